"""ModelCheckpoint writes a file per epoch, until the scratch disk is full.

expect: disk-full
exit: 1
outcome: crashed
needs: mounts
"""

import ctypes
import os

# A scratch disk of 300 KB, which only this process sees: unshare(CLONE_NEWNS), and a tmpfs.
libc = ctypes.CDLL(None)
os.makedirs("scratch")
libc.unshare(0x20000)
libc.mount(None, b"/", None, 0x44000, None)
libc.mount(b"tmpfs", b"scratch", b"tmpfs", 0, b"size=300k")

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(64, 16).astype("float32")
model = keras.Sequential([keras.layers.Dense(128, activation="relu"), keras.layers.Dense(64), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
save = keras.callbacks.ModelCheckpoint("scratch/model-{epoch:02d}.keras")
model.fit(x, x.sum(axis=1), epochs=20, callbacks=[save], verbose=2)  # <- here
