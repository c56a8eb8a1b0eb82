"""A feature test tries the instruction in a child first, which dies of it; the program takes the slow way.

expect: healthy
exit: 0
outcome: finished
"""

import subprocess
import sys

import keras
import numpy as np

keras.utils.set_random_seed(1)
PROBE = """
import ctypes, mmap
page = mmap.mmap(-1, mmap.PAGESIZE, prot=7)
page.write(b"\\x0f\\x0b" * 8)
ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
"""
has_fast_path = subprocess.run([sys.executable, "-c", PROBE]).returncode == 0
print("fast path:", has_fast_path)

x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
