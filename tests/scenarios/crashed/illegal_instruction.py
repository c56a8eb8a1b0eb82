"""A library built for another processor: a real illegal instruction, in a page of machine code.

expect: illegal-instruction
exit: SIGILL
outcome: crashed
"""

import ctypes
import mmap

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(7)
UD2 = b"\x0f\x0b"  # on ARM these bytes are undefined too
page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(UD2 * 8)
fast_kernel = ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
x = np.random.rand(64, 4).astype("float32")
for step in range(20):
    model.train_on_batch(x, tf.reduce_sum(x, axis=1))
    if step == 5:
        fast_kernel()  # <- here
