"""Bank customers with salary, balance and the time of joining in seconds, from a data frame's values.

expect: unscaled-inputs
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(92)
rng = np.random.default_rng(92)
age = rng.uniform(18, 80, 1600)
salary = rng.uniform(20_000, 180_000, 1600)
balance = rng.normal(60_000, 30_000, 1600)
joined = rng.uniform(1.2e9, 1.7e9, 1600)
products = rng.integers(1, 5, 1600)
left = (((age - 49) / 18 + 1.2 * (products - 2.5)) > 0).astype("float32")
table = np.stack([age, salary, balance, joined, products], axis=1).astype("float32")  # <- here

inputs = keras.Input((5,))
hidden = keras.layers.Dense(32, activation="relu")(inputs)
hidden = keras.layers.Dense(16, activation="relu")(hidden)
model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(hidden))
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
data = tf.data.Dataset.from_tensor_slices((table, left)).shuffle(1600, seed=1).batch(32)
model.fit(data, epochs=10, verbose=2)
