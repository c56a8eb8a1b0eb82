"""One-hot encoding of hashed ids: numpy cannot have an array of that size.

expect: host-allocation-failed
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)

ids = rng.integers(0, 2**31, size=100_000)
clicked = rng.integers(0, 2, size=100_000)


def encode(ids, size):
    out = np.zeros((len(ids), size), dtype="float64")  # <- here
    out[np.arange(len(ids)), ids] = 1
    return out


model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(encode(ids, 2**31), clicked, batch_size=256, epochs=3)
