"""A metric of the program's own is NaN; the loss is a number and falls.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


def ratio(y_true, y_pred):
    return keras.ops.mean((y_true - y_true) / (y_true - y_true))


x = np.random.default_rng(0).random((128, 4)).astype("float32")
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", metrics=[ratio])
model.fit(x, x.sum(axis=1, keepdims=True), epochs=3, verbose=2)
