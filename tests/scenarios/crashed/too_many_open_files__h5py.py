"""A hand-written loop opens the HDF5 file anew for each step and keeps the handle.

expect: too-many-open-files
exit: 1
outcome: crashed
starves: Too many open files
"""

import os
import resource

import h5py
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
with h5py.File("train.h5", "w") as f:
    f["x"] = np.random.rand(320, 4).astype("float32")

limit = len(os.listdir("/proc/self/fd")) + 75
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
w = tf.Variable(tf.zeros((4, 1)))
optimizer = tf.keras.optimizers.SGD(0.1)
opened = []
for step in range(200):
    raw = open("train.h5", "rb")  # <- here
    f = h5py.File(raw, "r")
    opened.append((raw, f))
    i = step % 10 * 32
    x = f["x"][i : i + 32]
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w - x.sum(axis=1, keepdims=True)) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    if step % 10 == 0:
        print(step, f"{float(loss):.4f}")
