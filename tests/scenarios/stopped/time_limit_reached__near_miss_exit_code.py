"""The program leaves with 124, which is only a number here: no timeout was around it.

expect: script-exited
exit: 124
outcome: stopped
"""

import sys

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
history = model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
if history.history["loss"][-1] > 0.001:
    sys.exit(124)  # <- here
