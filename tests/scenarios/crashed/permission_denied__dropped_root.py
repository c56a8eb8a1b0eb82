"""A container that starts as root and goes on as nobody: the data folder is root's own.

expect: permission-denied
exit: 1
outcome: crashed
"""

import os

import keras
import numpy as np

keras.utils.set_random_seed(1)
np.save("features.npy", np.random.rand(64, 4).astype("float32"))
os.chmod("features.npy", 0o600)
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
else:
    os.chmod("features.npy", 0)

x = np.load("features.npy")  # <- here
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
