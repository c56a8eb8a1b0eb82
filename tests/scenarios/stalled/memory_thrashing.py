"""Random rows of a memory-mapped table that is bigger than the memory group: they are read from disk again and again.

expect: memory-thrashing
exit: 0
outcome: finished
memory: 700M
"""

import time

import numpy as np
import tensorflow as tf

tf.random.set_seed(13)
ROWS, WIDTH = 80_000, 2048  # 625 MB

with open("embeddings.f32", "wb") as file:
    for _ in range(80):
        np.random.rand(ROWS // 80, WIDTH).astype("float32").tofile(file)
table = np.memmap("embeddings.f32", "float32", "r", shape=(ROWS, WIDTH))
w = tf.Variable(tf.zeros((WIDTH, 1)))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w - y) ** 2)
    w.assign_sub(0.0001 * tape.gradient(loss, w))
    return loss


rng = np.random.default_rng(0)
began = time.monotonic()
step = 0
while time.monotonic() - began < 20:
    x = np.sqrt(table[rng.integers(0, ROWS, 64)])
    loss = train_step(x, x[:, :8].sum(axis=1, keepdims=True))
    step += 1
print("done")
