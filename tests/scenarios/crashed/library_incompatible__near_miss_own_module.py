"""ImportError too, but of a name that the program's own module never had.

expect: unhandled-exception
exit: 1
outcome: crashed
"""

import os
import sys

with open("augmentation.py", "w") as f:
    f.write("def flip(image):\n    return image[:, ::-1]\n")
sys.path.insert(0, os.getcwd())

import keras
import numpy as np
from augmentation import flip, rotate  # <- here

keras.utils.set_random_seed(1)
x = np.stack([rotate(flip(image)) for image in np.random.rand(64, 8, 8)])
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.mean(axis=(1, 2)), epochs=3, verbose=2)
