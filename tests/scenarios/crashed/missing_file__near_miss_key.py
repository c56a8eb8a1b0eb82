"""The file is there; an array that the program asks of it is not.

expect: unhandled-exception
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
np.savez("mnist.npz", x_train=np.random.rand(64, 4), labels=np.random.rand(64))
with np.load("mnist.npz") as data:
    x = data["x_train"].astype("float32")
    y = data["y_train"].astype("float32")  # <- here

model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=3, verbose=2)
