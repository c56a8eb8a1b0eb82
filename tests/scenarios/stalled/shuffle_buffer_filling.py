"""Somebody ends it while the shuffle buffer fills from a slow source, before the first step.

expect: shuffle-buffer-filling
exit: SIGTERM
outcome: stopped
do: signal SIGTERM
"""

import time

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(23)


def records():
    rng = np.random.default_rng(0)
    for number in range(100_000):
        time.sleep(0.004)
        if number == 3500:
            print("READY", flush=True)
        x = rng.random(12, dtype="float32")
        yield x, x.sum()


signature = (tf.TensorSpec((12,), tf.float32), tf.TensorSpec((), tf.float32))
dataset = tf.data.Dataset.from_generator(records, output_signature=signature).shuffle(20000).batch(8)
model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=1, verbose=2)
