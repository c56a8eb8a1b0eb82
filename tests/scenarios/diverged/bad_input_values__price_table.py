"""A price table with one missing value: the loss is NaN from the first epoch on, and fit does all its epochs.

expect: bad-input-values
exit: 0
outcome: finished
when: test
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)
houses = rng.random((200, 6)).astype("float32")
houses[17, 3] = np.nan  # <- here
prices = houses[:, :2].sum(axis=1)

model = keras.Sequential([keras.layers.Dense(16), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
model.fit(houses, prices, epochs=3, batch_size=20, verbose=2)
