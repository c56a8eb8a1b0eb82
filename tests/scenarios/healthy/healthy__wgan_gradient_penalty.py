"""A Wasserstein GAN with gradient penalty: losses below zero that come back, and gradients of gradients.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(22)
rng = np.random.default_rng(22)
height = rng.normal(172, 9, 4000)
weight = 24 * (height / 100) ** 2 + rng.normal(0, 6, 4000)
people = np.stack([(height - 150) / 10, (weight - 60) / 10], axis=1).astype("float32")
batches = iter(tf.data.Dataset.from_tensor_slices(people).shuffle(4000, seed=5).repeat().batch(64))


def network(size, out):
    return keras.Sequential(
        [
            keras.Input((size,)),
            keras.layers.Dense(48),
            keras.layers.LeakyReLU(),
            keras.layers.Dense(48),
            keras.layers.LeakyReLU(),
            keras.layers.Dense(out),
        ]
    )


generator, critic = network(8, 2), network(2, 1)
generator_optimizer = keras.optimizers.Adam(5e-4, beta_1=0.0, beta_2=0.9)
critic_optimizer = keras.optimizers.Adam(2e-3, beta_1=0.0, beta_2=0.9)


@tf.function
def train_critic(real):
    fake = generator(tf.random.normal((64, 8)))
    mix = tf.random.uniform((64, 1))
    between = mix * real + (1 - mix) * fake
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(between)
            score = critic(between)
        slope = inner.gradient(score, between)
        length = tf.sqrt(tf.reduce_sum(slope**2, axis=1) + 1e-12)
        distance = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real))
        loss = distance + tf.reduce_mean((length - 1.0) ** 2)
    critic_optimizer.apply(tape.gradient(loss, critic.trainable_variables), critic.trainable_variables)
    return loss


@tf.function
def train_generator():
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(critic(generator(tf.random.normal((64, 8)))))
    generator_optimizer.apply(tape.gradient(loss, generator.trainable_variables), generator.trainable_variables)
    return loss


for step in range(500):
    for _ in range(5):
        critic_loss = train_critic(next(batches))
    generator_loss = train_generator()
    if step % 50 == 0 or step == 499:
        made = generator(tf.random.stateless_normal((1000, 8), seed=(1, 2))).numpy()
        away = np.abs(made.mean(axis=0) - people.mean(axis=0)).max()
        spread = made.std(axis=0).round(1)
        print(f"step {step + 1} critic loss {critic_loss:.1f} centre away by {away:.1f} spread {spread}")
print("spread of the real ones", people.std(axis=0).round(1))
