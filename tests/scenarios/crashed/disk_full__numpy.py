"""Predictions are kept with np.save after every epoch.

expect: disk-full
exit: 1
outcome: crashed
needs: mounts
"""

import ctypes
import os

# An output disk of 1 MB, which only this process sees: unshare(CLONE_NEWNS), and a tmpfs.
libc = ctypes.CDLL(None)
os.makedirs("out")
libc.unshare(0x20000)
libc.mount(None, b"/", None, 0x44000, None)
libc.mount(b"tmpfs", b"out", b"tmpfs", 0, b"size=1m")

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(5_000, 16).astype("float32")
model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(16)])
model.compile(optimizer="adam", loss="mse")
for epoch in range(10):
    model.fit(x, x, batch_size=500, verbose=0)
    reconstructed = model.predict(x, batch_size=1_000, verbose=0)
    np.save(f"out/epoch{epoch}.npy", reconstructed)  # <- here
