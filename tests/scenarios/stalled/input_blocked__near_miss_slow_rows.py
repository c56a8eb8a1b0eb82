"""A service gives one row every 0.8 s, so a batch takes most of a minute: slow, and each row comes.

expect: healthy
exit: 0
outcome: finished
seconds: 600
"""

import time

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)
SECONDS_APART = 0.8  # the service allows 75 requests a minute


def ask_service(number):
    return np.random.default_rng(number).random(6, dtype="float32")


def rows():
    for number in range(96):
        time.sleep(SECONDS_APART)
        row = ask_service(number)
        yield row[:5], row[5]


signature = (tf.TensorSpec((5,), tf.float32), tf.TensorSpec((), tf.float32))
dataset = tf.data.Dataset.from_generator(rows, output_signature=signature).batch(48)
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=1, verbose=2)
