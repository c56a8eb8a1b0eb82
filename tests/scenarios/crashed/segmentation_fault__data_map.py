"""The decoder in a tf.data map crashes, in a thread of TensorFlow's own.

expect: segmentation-fault
exit: SIGSEGV
outcome: crashed
"""

import ctypes

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)


def decode(i):
    if i == 50:
        ctypes.string_at(0)  # <- here
    return np.full(4, i, "float32")


def load(i):
    x = tf.numpy_function(decode, [i], tf.float32)
    x.set_shape((4,))
    return x, tf.reduce_sum(x)


train = tf.data.Dataset.range(100).map(load).batch(10)
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(train, epochs=2, verbose=0)
