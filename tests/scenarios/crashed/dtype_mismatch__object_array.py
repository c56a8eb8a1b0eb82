"""Rows of mixed types make an array of objects, which fit does not take.

expect: dtype-mismatch
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)

table = [
    [5.1, 3.5, "1.4", 0],
    [4.9, 3.0, "1.4", 0],
    [6.2, 3.4, "5.4", 1],
    [5.9, 3.0, "5.1", 1],
] * 10
data = np.array(table, dtype=object)
X, y = data[:, :3], data[:, 3].astype("int32")

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(X, y, epochs=5, verbose=2)  # <- here
