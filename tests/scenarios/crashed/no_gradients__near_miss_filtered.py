"""A compiled GAN step in which each tape knows nothing of the other half; the Nones are left out by hand.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import tensorflow as tf

keras.utils.set_random_seed(7)
generator = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
discriminator = keras.Sequential([keras.Input((2,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
everything = generator.trainable_variables + discriminator.trainable_variables
g_opt, d_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)
g_opt.build(everything)
d_opt.build(everything)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_step(real, fake_seed):
    with tf.GradientTape(persistent=True) as tape:
        fake = generator(fake_seed, training=True)
        d_loss = bce(tf.ones((32, 1)), discriminator(real)) + bce(tf.zeros((32, 1)), discriminator(tf.stop_gradient(fake)))
        g_loss = bce(tf.ones((32, 1)), discriminator(fake))
    d_grads = tape.gradient(d_loss, everything)
    d_opt.apply_gradients([(g, v) for g, v in zip(d_grads, everything) if g is not None])
    g_vars = generator.trainable_variables
    g_opt.apply_gradients(zip(tape.gradient(g_loss, g_vars), g_vars))
    return g_loss, d_loss


for epoch in range(3):
    for _ in range(10):
        g_loss, d_loss = train_step(tf.random.normal((32, 2)), tf.random.normal((32, 4)))
    print(f"epoch {epoch}: generator {g_loss:.2f} discriminator {d_loss:.2f}")
