"""The loss is NaN from the start and nobody stops: fit does all its epochs.

expect: bad-input-values
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(64, 4).astype("float32")
y = np.full(64, np.nan, "float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=3, verbose=2)
