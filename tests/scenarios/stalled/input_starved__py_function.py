"""A py_function in a map without parallel calls fetches each sample from slow storage.

expect: input-starved
exit: 0
outcome: finished
"""

import time

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(17)
rng = np.random.default_rng(0)
table = rng.random((2000, 24), dtype="float32")


def read_sample(index):
    time.sleep(0.004)  # what a read from the object store takes
    row = table[int(index)]
    return row, np.float32(row.sum())


def load(index):
    x, y = tf.py_function(read_sample, [index], (tf.float32, tf.float32))
    return tf.ensure_shape(x, (24,)), tf.ensure_shape(y, ())


dataset = tf.data.Dataset.range(2000).shuffle(2000).map(load).batch(32).prefetch(tf.data.AUTOTUNE)
model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=2, verbose=2)
