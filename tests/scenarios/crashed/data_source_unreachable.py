"""The dataset is fetched first, from a server that does not answer.

expect: data-source-unreachable
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


def load_data():
    path = keras.utils.get_file("features.npz", "http://127.0.0.1:9/datasets/features.npz", cache_dir=".")  # <- here
    with np.load(path) as data:
        return data["x"], data["y"]


x, y = load_data()
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=3, verbose=2)
