"""A child that decodes data is killed for memory; the training itself survives and is complete.

expect: healthy
exit: 0
outcome: finished
memory: 1200M
"""

import subprocess
import sys

import keras
import numpy as np

keras.utils.set_random_seed(1)
EATER = 'kept = []\nwhile True: kept.append(bytearray(b"x" * 20_000_000))'

x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=2, verbose=2)
print("decoder:", subprocess.run([sys.executable, "-c", EATER]).returncode)
model.fit(x, x.sum(axis=1), epochs=2, verbose=2)
