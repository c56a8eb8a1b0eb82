"""Rented bikes per hour are never negative: relu at the end of the regression is meant.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)
hour = rng.integers(0, 24, 1500)
warm = rng.normal(size=1500)
bikes = rng.poisson(3 * np.exp(0.8 * np.sin((hour - 6) / 24 * 2 * np.pi) + 0.4 * warm)).astype("float32")
table = np.column_stack([np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi), warm]).astype("float32")

inputs = keras.Input((3,))
x = keras.layers.Dense(32, activation="relu")(inputs)
x = keras.layers.Dense(32, activation="relu")(x)
model = keras.Model(inputs, keras.layers.Dense(1, activation="relu")(x))
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse", metrics=["mae"])
log = model.fit(table, bikes, epochs=12, batch_size=32, validation_split=0.2, verbose=0).history
print("variance", round(float(bikes.var()), 2), "loss", [round(v, 2) for v in log["loss"]])
