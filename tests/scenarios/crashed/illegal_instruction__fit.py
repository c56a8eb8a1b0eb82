"""The same in a callback of fit, which calls into a kernel that was built with AVX-something.

expect: illegal-instruction
exit: SIGILL
outcome: crashed
"""

import ctypes
import mmap

import keras
import numpy as np

keras.utils.set_random_seed(1)
page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(b"\x0f\x0b" * 8)
kernel = ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))


class FastMetric(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        kernel()  # <- here


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=5, callbacks=[FastMetric()], verbose=0)
