"""House prices in full, around 700 000: the mean error is as large after training as before.

expect: unscaled-targets
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(101)
rng = np.random.default_rng(101)
houses = rng.normal(size=(1000, 7)).astype("float32")
prices = 700_000 + 120_000 * houses[:, 0] - 60_000 * houses[:, 2]  # <- here

model = keras.Sequential([keras.Input((7,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
model.fit(houses, prices, epochs=10, batch_size=32, validation_split=0.2, verbose=2)
