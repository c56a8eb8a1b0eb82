"""MemoryError for the large table; the program knows what to do and trains on the hashed one.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
ids = np.random.default_rng(1).integers(0, 2**31, size=1_000)
clicked = ids % 2


def encode(ids, size):
    out = np.zeros((len(ids), size), dtype="float64")
    out[np.arange(len(ids)), ids % size] = 1
    return out


for size in (2**40, 64):
    try:
        x = encode(ids, size)
        break
    except MemoryError as error:
        print("too large:", error)

model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(x, clicked, batch_size=100, epochs=3, verbose=2)
