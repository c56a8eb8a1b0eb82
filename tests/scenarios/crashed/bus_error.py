"""The memory-mapped training data is cut shorter by somebody while it is being read.

expect: bus-error
exit: SIGBUS
outcome: crashed
"""

import os

import keras
import numpy as np

keras.utils.set_random_seed(1)
np.random.rand(200_000, 4).astype("float32").tofile("train.bin")
data = np.memmap("train.bin", dtype="float32", mode="r", shape=(200_000, 4))


def batches():
    for start in range(0, 200_000, 20_000):
        if start == 100_000:
            os.truncate("train.bin", 4096)  # a new export begins to overwrite the file
        x = np.array(data[start : start + 100])  # <- here
        yield x, x.sum(axis=1)


model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
for x, y in batches():
    model.train_on_batch(x, y)
