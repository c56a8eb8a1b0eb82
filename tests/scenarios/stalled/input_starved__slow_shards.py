"""After every 50 quick batches a shard is loaded and sorted for eight seconds.

expect: input-starved
exit: 0
outcome: finished
"""

import time

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(29)


def load_shard(number):
    """Decompress, sort and normalise, as long as that takes."""
    began = time.monotonic()
    shard = np.random.default_rng(number).random((1600, 12), dtype="float32")
    while time.monotonic() - began < 8:
        noise = np.random.default_rng(number).random((4000, 120), dtype="float32")
        noise.sort(axis=0)
    return shard


def samples():
    for number in range(3):
        for row in load_shard(number):
            yield row[:11], row[11]


signature = (tf.TensorSpec((11,), tf.float32), tf.TensorSpec((), tf.float32))
dataset = tf.data.Dataset.from_generator(samples, output_signature=signature).batch(32)
model = keras.Sequential([keras.layers.Dense(512, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=1, verbose=2)
