"""The data file is too short as well, but mapping it says so in an ordinary exception.

expect: unhandled-exception
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
np.random.rand(1_000, 4).astype("float32").tofile("train.bin")


def open_data(rows):
    return np.memmap("train.bin", dtype="float32", mode="r", shape=(rows, 4))  # <- here


x = open_data(1_000)
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), batch_size=200, epochs=2, verbose=2)
x = open_data(2_000)
