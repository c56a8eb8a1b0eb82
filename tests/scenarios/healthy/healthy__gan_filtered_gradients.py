"""A GAN in one persistent tape: the missing gradients of the other network are left out on purpose.

expect: healthy
exit: 0
outcome: finished
"""

import numpy as np
import tensorflow as tf
import tf_keras

tf_keras.utils.set_random_seed(27)
real_data = (np.random.normal(size=(4096, 3)) * [0.5, 1.0, 0.2] + [2.0, -1.0, 0.5]).astype("float32")
generator = tf_keras.Sequential(
    [tf_keras.layers.Dense(24, activation="relu", input_shape=(6,)), tf_keras.layers.Dense(3)]
)
discriminator = tf_keras.Sequential(
    [tf_keras.layers.Dense(24, activation="relu", input_shape=(3,)), tf_keras.layers.Dense(1)]
)
rate = tf_keras.optimizers.schedules.ExponentialDecay(2e-3, 150, 0.75)
optimizers = tf_keras.optimizers.Adam(rate, 0.5), tf_keras.optimizers.Adam(rate, 0.5)
crossentropy = tf_keras.losses.BinaryCrossentropy(from_logits=True)
everything = generator.trainable_variables + discriminator.trainable_variables


@tf.function
def step(real):
    with tf.GradientTape(persistent=True) as tape:
        fake = generator(tf.random.normal((64, 6)))
        said_real, said_fake = discriminator(real), discriminator(tf.stop_gradient(fake))
        d_loss = 0.5 * (
            crossentropy(tf.ones_like(said_real), said_real) + crossentropy(tf.zeros_like(said_fake), said_fake)
        )
        fooled = discriminator(fake)
        g_loss = crossentropy(tf.ones_like(fooled), fooled)
    mine = {variable.ref() for variable in generator.trainable_variables}
    pairs = [
        (grad, variable) for grad, variable in zip(tape.gradient(d_loss, everything), everything) if grad is not None
    ]
    optimizers[1].apply_gradients(pairs)
    pairs = [
        (grad, variable)
        for grad, variable in zip(tape.gradient(g_loss, everything), everything)
        if variable.ref() in mine
    ]
    optimizers[0].apply_gradients(pairs)
    return g_loss, d_loss


for epoch in range(12):
    for start in range(0, 4096, 64):
        g_loss, d_loss = step(real_data[start : start + 64])
    made = generator(tf.random.stateless_normal((1000, 6), seed=(1, 2))).numpy()
    away = np.linalg.norm(made.mean(axis=0) - [2.0, -1.0, 0.5])
    print(f"epoch {epoch + 1}: centre away by {away:.1f}")
