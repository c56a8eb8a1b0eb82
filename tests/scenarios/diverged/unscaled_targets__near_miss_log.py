"""Prices of a million are learnt as logarithms.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(107)
rng = np.random.default_rng(107)
flats = rng.normal(size=(1200, 6)).astype("float32")
prices = np.exp(13.5 + 0.4 * flats[:, 0] - 0.2 * flats[:, 1])
print(f"prices from {prices.min():.0f} to {prices.max():.0f}")
target = np.log(prices)

model = keras.Sequential(
    [
        keras.Input((6,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1, bias_initializer=keras.initializers.Constant(target.mean())),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(0.005), loss="mse", metrics=["mae"])
model.fit(flats, target, epochs=8, batch_size=30, validation_split=0.2, verbose=2)
