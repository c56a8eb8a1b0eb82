"""The data is slow in the first epoch only, while the cache fills; most of the time the model works.

expect: healthy
exit: 0
outcome: finished
"""

import time

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(17)


def read_sample(index):
    time.sleep(0.004)
    return np.random.default_rng(int(index)).random(256, dtype="float32")


def load(index):
    x = tf.ensure_shape(tf.py_function(read_sample, [index], tf.float32), (256,))
    return x, tf.reduce_sum(x)


dataset = tf.data.Dataset.range(960).map(load).cache().shuffle(960).batch(32).prefetch(2)
model = keras.Sequential(
    [keras.layers.Dense(1024, activation="relu"), keras.layers.Dense(1024, activation="relu"), keras.layers.Dense(1)]
)
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=30, verbose=2)
