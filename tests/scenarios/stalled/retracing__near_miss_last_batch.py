"""The last batch of each epoch is smaller: two graphs, and no more.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(19)
x = np.random.rand(1000, 8).astype("float32")
y = x.sum(axis=1)
w = tf.Variable(tf.zeros((8, 1)))


@tf.function
def train_step(features, target):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((features @ w - target[:, None]) ** 2)
    w.assign_sub(0.05 * tape.gradient(loss, w))
    return loss


for epoch in range(20):
    for start in range(0, len(x), 64):
        loss = train_step(x[start : start + 64], y[start : start + 64])
    print(f"epoch {epoch} loss {float(loss):.4f}")
