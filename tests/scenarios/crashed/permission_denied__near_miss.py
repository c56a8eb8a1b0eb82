"""The shared cache cannot be read; the program says so, and makes its own.

expect: healthy
exit: 0
outcome: finished
"""

import ctypes
import os

# As an ordinary user: without root's right to read everything (capset with nothing in it).
ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())

import keras
import numpy as np

keras.utils.set_random_seed(1)
np.save("cache.npy", np.zeros((64, 4)))
os.chmod("cache.npy", 0)
try:
    x = np.load("cache.npy")
except PermissionError as error:
    print("no cache:", error)
    x = np.random.rand(64, 4).astype("float32")

model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
