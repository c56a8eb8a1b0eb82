"""Salaries and ages as they come, with a Normalization layer that has seen the data and a scaled target.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)
salary = rng.lognormal(10.8, 0.4, 3000)
age = rng.uniform(18, 70, 3000)
debt = rng.exponential(20000, 3000)
table = np.stack([salary, age, debt], axis=1).astype("float32")
limit = 0.3 * salary + 100 * age - 0.1 * debt + rng.normal(0, 500, 3000)
target = ((limit - limit.mean()) / limit.std()).astype("float32")

scale = keras.layers.Normalization()
scale.adapt(table)
inputs = keras.Input((3,))
x = scale(inputs)
x = keras.layers.Dense(32, activation="relu")(x)
x = keras.layers.Dense(32, activation="relu")(x)
model = keras.Model(inputs, keras.layers.Dense(1)(x))
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
model.fit(table, target, batch_size=64, epochs=6, validation_split=0.2, verbose=2)
