"""A big shuffle buffer takes a third of a minute to fill from a slow source; then the steps go fast.

expect: healthy
exit: 0
outcome: finished
"""

import time

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(23)


def records():
    rng = np.random.default_rng(0)
    for number in range(4400):
        if number < 4000:
            time.sleep(0.0046)
        x = rng.random(12, dtype="float32")
        yield x, x.sum()


signature = (tf.TensorSpec((12,), tf.float32), tf.TensorSpec((), tf.float32))
dataset = tf.data.Dataset.from_generator(records, output_signature=signature).shuffle(4000).batch(8).prefetch(2)
model = keras.Sequential([keras.layers.Dense(256, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=1, verbose=2)
