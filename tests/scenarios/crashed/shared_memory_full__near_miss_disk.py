"""No space left on device, but it is the output disk; /dev/shm has room.

expect: disk-full
exit: 1
outcome: crashed
needs: mounts
"""

import ctypes
import os

# An output disk of 100 KB, which only this process sees.
libc = ctypes.CDLL(None)
os.makedirs("out")
libc.unshare(0x20000)
libc.mount(None, b"/", None, 0x44000, None)
libc.mount(b"tmpfs", b"out", b"tmpfs", 0, b"size=100k")

from multiprocessing import shared_memory

import keras
import numpy as np

keras.utils.set_random_seed(1)
block = shared_memory.SharedMemory(create=True, size=64 * 16)
x = np.ndarray((64, 4), dtype="float32", buffer=block.buf)
x[:] = np.random.rand(64, 4)
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=2, verbose=2)
del x
block.close()
block.unlink()

np.savetxt("out/embeddings.txt", np.random.rand(5_000, 8))  # <- here
