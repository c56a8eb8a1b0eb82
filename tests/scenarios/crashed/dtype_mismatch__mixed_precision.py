"""Under mixed_float16 a layer of one's own multiplies the float16 input by a float32 constant.

expect: dtype-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(1)
keras.mixed_precision.set_global_policy("mixed_float16")


class Standardise(keras.layers.Layer):
    def __init__(self, mean, std):
        super().__init__()
        self.mean = tf.constant(mean, dtype=tf.float32)
        self.std = tf.constant(std, dtype=tf.float32)

    def call(self, x):
        return (x - self.mean) / self.std  # <- here


x = np.random.normal(5.0, 2.0, (128, 4)).astype("float32")
model = keras.Sequential([
    Standardise(x.mean(axis=0), x.std(axis=0)),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(1, dtype="float32"),
])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=2, verbose=2)
