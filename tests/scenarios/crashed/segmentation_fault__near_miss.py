"""A converter that runs as a child crashes with SIGSEGV; the training leaves that file out and completes.

expect: healthy
exit: 0
outcome: finished
"""

import subprocess
import sys

import keras
import numpy as np

keras.utils.set_random_seed(1)
converter = subprocess.run([sys.executable, "-c", "import ctypes; ctypes.string_at(0)"])
print("converter:", converter.returncode)

x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
