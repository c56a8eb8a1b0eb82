"""The same small /dev/shm, and batches that fit into it because each block is given back.

expect: healthy
exit: 0
outcome: finished
needs: mounts
"""

import ctypes

# A /dev/shm of 1 MB, which only this process sees.
libc = ctypes.CDLL(None)
libc.unshare(0x20000)
libc.mount(None, b"/", None, 0x44000, None)
libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", 0, b"size=1m")

from multiprocessing import shared_memory

import keras
import numpy as np

keras.utils.set_random_seed(1)


def batches(rows):
    while True:
        block = shared_memory.SharedMemory(create=True, size=rows * 16)
        shared = np.ndarray((rows, 4), dtype="float32", buffer=block.buf)
        shared[:] = np.random.rand(rows, 4)
        x = shared.copy()
        del shared
        block.close()
        block.unlink()
        yield x, x.sum(axis=1)


model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(batches(20_000), steps_per_epoch=5, epochs=3, verbose=2)
