"""The learning rate is set on the optimizer between epochs, and a Python number is handed to the step as an argument.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(130)
rng = np.random.default_rng(130)
x_all = rng.normal(size=(960, 10)).astype("float32")
y_all = (x_all[:, :2].sum(axis=1, keepdims=True)).astype("float32")
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.0)
level = 0.3


@tf.function
def step(x, y, noise):
    with tf.GradientTape() as tape:
        seen = x + noise * tf.random.normal(tf.shape(x))
        loss = tf.reduce_mean(tf.square(model(seen, training=True) - y))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((x_all, y_all)).shuffle(960, seed=3).batch(32)
for epoch in range(8):
    losses = [float(step(x, y, tf.constant(level))) for x, y in data]
    print(f"epoch {epoch}: {np.mean(losses):.3f}")
    optimizer.learning_rate = min(0.01, 0.004 * (epoch + 1))
    level *= 0.6
