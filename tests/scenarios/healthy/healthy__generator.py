"""Batches come from an endless Python generator.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(7)


def batches(size=16):
    rng = np.random.default_rng(0)
    while True:
        x = rng.random((size, 6), dtype="float32")
        yield x, x.mean(axis=1)


model = keras.Sequential([keras.layers.Dense(12, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="rmsprop", loss="mae")
model.fit(batches(), steps_per_epoch=15, epochs=3, validation_data=next(batches(48)), verbose=2)
