"""A folder that is closed to others is fine; what fails is a file that is not in it.

expect: missing-file
exit: 1
outcome: crashed
"""

import os

import keras
import numpy as np

keras.utils.set_random_seed(1)
os.makedirs("private", mode=0o700)
np.save("private/x.npy", np.random.rand(64, 4).astype("float32"))
print("permissions of private:", oct(os.stat("private").st_mode & 0o777), "- permission denied for all others")

x = np.load("private/x.npy")
y = np.load("private/y.npy")  # <- here
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=3, verbose=2)
