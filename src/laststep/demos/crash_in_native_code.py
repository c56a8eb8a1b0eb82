"""Native code crashes in the middle of training."""

import ctypes

import keras
import numpy as np
import tensorflow as tf

# What a fast decoder in C would do with a record that is damaged: follow a pointer that leads nowhere.
read_string = ctypes.pythonapi.PyBytes_FromString
read_string.argtypes = [ctypes.c_void_p]
DAMAGED = 2500


def decode(number):
    if number == DAMAGED:
        read_string(None)
    rng = np.random.default_rng(int(number))
    return rng.normal(size=(20,)).astype("float32")


def load(number):
    x = tf.numpy_function(decode, [number], tf.float32)
    x.set_shape((20,))
    return x, tf.reduce_sum(x[:5])[None]


records = tf.data.Dataset.range(3000).map(load).batch(32)
model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(records, epochs=5, shuffle=False, verbose=2)
