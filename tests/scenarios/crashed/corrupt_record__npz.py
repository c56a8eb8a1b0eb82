"""The arrays of the training set, in an .npz with a damaged member.

expect: corrupt-record
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
np.savez("dataset.npz", x=np.random.rand(500, 8), y=np.random.rand(500))
with open("dataset.npz", "r+b") as f:
    f.seek(20_000)
    f.write(b"\0" * 64)


def load(path):
    with np.load(path) as data:
        return data["x"].astype("float32"), data["y"].astype("float32")  # <- here


x, y = load("dataset.npz")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=3, verbose=2)
