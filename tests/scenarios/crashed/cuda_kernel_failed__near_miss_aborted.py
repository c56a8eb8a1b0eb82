"""SIGABRT after the word CUDA was said, but it is the C library that gives up, over a buffer freed twice.

expect: aborted
exit: SIGABRT
outcome: crashed
"""

import ctypes

import keras
import numpy as np

keras.utils.set_random_seed(1)
print("CUDA_LAUNCH_BLOCKING is not set; CUDA_ERROR_LAUNCH_FAILED was last week's problem")
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]


def augmented(batch):
    buffer = libc.malloc(64)
    libc.free(buffer)
    if batch == 6:
        libc.free(buffer)  # <- here
    x = np.random.rand(16, 4).astype("float32")
    return x, x.sum(axis=1)


model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
for batch in range(20):
    model.train_on_batch(*augmented(batch))
