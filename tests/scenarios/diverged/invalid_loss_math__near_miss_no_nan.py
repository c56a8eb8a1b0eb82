"""Shares of counts with empty rows, divided with divide_no_nan, and a distance whose root has a floor.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(68)
rng = np.random.default_rng(68)
baskets = rng.poisson(0.6, size=(800, 12)).astype("float32")
baskets[:30] = 0
family = (baskets[:, :3].sum(axis=1) > 1.5).astype("float32")

dense = keras.layers.Dense(16, activation="relu")
out = keras.layers.Dense(1)
optimizer = keras.optimizers.Adam(0.01)
dense.build((None, 14))
out.build((None, 16))
variables = dense.trainable_variables + out.trainable_variables


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(x, axis=1, keepdims=True)
        length = tf.sqrt(tf.maximum(tf.reduce_sum(x**2, axis=1, keepdims=True), 1e-6))
        features = tf.concat([tf.math.divide_no_nan(x, total), total / 8, length / 4], axis=1)
        logits = out(dense(features))[:, 0]
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, logits))
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((baskets, family)).shuffle(800, seed=1).batch(32)
for epoch in range(6):
    losses = [float(train_step(x, y)) for x, y in data]
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}")
