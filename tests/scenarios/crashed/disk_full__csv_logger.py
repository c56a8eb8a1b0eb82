"""The log of the metrics cannot be written any more.

expect: disk-full
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
log = keras.callbacks.CSVLogger("/dev/full")  # a device that is always full
model.fit(x, x.sum(axis=1), epochs=5, callbacks=[log], verbose=2)  # <- here
