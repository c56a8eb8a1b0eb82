"""A native extension frees its buffer twice, and the C library gives up.

expect: aborted
exit: SIGABRT
outcome: crashed
when: test
"""

import ctypes

import keras
import numpy as np

keras.utils.set_random_seed(1)
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]


class Augment(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        buffer = libc.malloc(64)
        libc.free(buffer)
        if epoch == 1:
            libc.free(buffer)  # <- here


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=5, callbacks=[Augment()], verbose=0)
