"""Batches are handed over in shared memory that is larger than /dev/shm: the first write kills the process.

expect: shared-memory-full
exit: SIGBUS
outcome: crashed
needs: mounts
"""

import ctypes

# Docker's /dev/shm, smaller: 1 MB, which only this process sees.
libc = ctypes.CDLL(None)
libc.unshare(0x20000)
libc.mount(None, b"/", None, 0x44000, None)
libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", 0, b"size=1m")

from multiprocessing import shared_memory

import keras
import numpy as np

keras.utils.set_random_seed(1)


class SharedBatches(keras.utils.PyDataset):
    def __init__(self, rows):
        super().__init__()
        self.rows = rows
        self.blocks = []

    def __len__(self):
        return 10

    def __getitem__(self, index):
        block = shared_memory.SharedMemory(create=True, size=self.rows * 16)
        x = np.ndarray((self.rows, 4), dtype="float32", buffer=block.buf)
        x[:] = np.random.rand(self.rows, 4)  # <- here
        self.blocks.append(block)
        return x, x.sum(axis=1)


model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(SharedBatches(20_000), epochs=2, shuffle=False, verbose=2)
