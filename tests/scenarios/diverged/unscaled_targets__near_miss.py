"""House prices in full, but the model's last layers put the mean and the spread back: it learns.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(106)
rng = np.random.default_rng(106)
houses = rng.normal(size=(1000, 7)).astype("float32")
prices = 700_000 + 120_000 * houses[:, 0] - 60_000 * houses[:, 2]

model = keras.Sequential(
    [
        keras.Input((7,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1),
        keras.layers.Rescaling(prices.std(), offset=prices.mean()),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mae")
model.fit(houses, prices, epochs=8, batch_size=32, validation_split=0.2, verbose=2)
