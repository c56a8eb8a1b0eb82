"""A launcher hands on the exit code 139 of something else: no signal ended this process.

expect: script-exited
exit: 139
outcome: stopped
"""

import sys

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=2, verbose=2)
sys.exit(139)  # <- here
