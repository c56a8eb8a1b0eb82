"""ModelCheckpoint is to write into a folder that is read-only for this user.

expect: permission-denied
exit: 1
outcome: crashed
"""

import ctypes
import os

# As an ordinary user: without root's right to write everywhere (capset with nothing in it).
ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())

import keras
import numpy as np

keras.utils.set_random_seed(1)
os.makedirs("results", mode=0o555)
x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
save = keras.callbacks.ModelCheckpoint("results/epoch-{epoch:02d}.keras")
model.fit(x, x.sum(axis=1), epochs=5, callbacks=[save], verbose=2)  # <- here
