"""A container with a tiny /dev/shm: the pool that prepares the batches cannot even make its locks.

expect: shared-memory-full
exit: 1
outcome: crashed
needs: mounts
"""

import ctypes

# The container's /dev/shm of 64 KB, which only this process sees: unshare(CLONE_NEWNS), and a tmpfs.
libc = ctypes.CDLL(None)
libc.unshare(0x20000)
libc.mount(None, b"/", None, 0x44000, None)
libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", 0, b"size=64k")

import multiprocessing

import keras
import numpy as np

keras.utils.set_random_seed(1)


def augment(seed):
    x = np.random.default_rng(seed).random((32, 4)).astype("float32")
    return x, x.sum(axis=1)


def batches(epochs):
    with open("/dev/shm/frames.bin", "wb") as frames:
        frames.write(b"\0" * 65536)
    with multiprocessing.Pool(2) as pool:  # <- here
        for epoch in range(epochs):
            yield from pool.imap(augment, range(10))


model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(batches(3), steps_per_epoch=10, epochs=3, verbose=2)
