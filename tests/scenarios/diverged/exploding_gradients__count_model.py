"""Visitors per day come out of an exponential and are compared by squared error, in a loop of one's own.

expect: exploding-gradients
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(24)
rng = np.random.default_rng(24)
days = rng.normal(size=(1000, 6)).astype("float32")
visitors = rng.poisson(np.exp(2.2 + 0.7 * days[:, 0] + 0.5 * days[:, 1])).astype("float32")

dense = keras.layers.Dense(16, activation="tanh")
rate = keras.layers.Dense(1)
model = keras.Sequential([keras.Input((6,)), dense, rate])
optimizer = keras.optimizers.SGD(0.01)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        expected = tf.exp(model(x, training=True)[:, 0])
        loss = tf.reduce_mean((expected - y) ** 2)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((days, visitors)).shuffle(1000, seed=3).batch(25)
for epoch in range(5):
    losses = [float(train_step(x, y)) for x, y in data]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}, highest {np.max(losses):.3f}")
