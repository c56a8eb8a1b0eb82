"""One validation of more than three minutes between quick epochs, two seconds a batch.

expect: healthy
exit: 0
outcome: finished
seconds: 280
"""

import time

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(29)


def volume(index):
    time.sleep(2)
    return np.full((4, 10), float(index), "float32")


def load(index):
    x = tf.ensure_shape(tf.py_function(volume, [index], tf.float32), (4, 10))
    return x, tf.reduce_sum(x, axis=1)


x = np.random.rand(4000, 10).astype("float32")
model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(
    x,
    x.sum(axis=1),
    batch_size=16,
    epochs=4,
    validation_data=tf.data.Dataset.range(95).map(load, num_parallel_calls=1),
    validation_freq=4,
    verbose=2,
)
