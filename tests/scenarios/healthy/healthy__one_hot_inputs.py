"""Cars described by one-hot columns: the inputs are zero in nineteen places of twenty.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(73)
rng = np.random.default_rng(73)
maker, colour, fuel = rng.integers(0, 40, 3000), rng.integers(0, 12, 3000), rng.integers(0, 4, 3000)
value = (rng.normal(size=40)[maker] + 0.2 * rng.normal(size=12)[colour] + rng.normal(size=4)[fuel]).astype("float32")
columns = [tf.one_hot(one, size) for one, size in ((maker, 40), (colour, 12), (fuel, 4))]
cars = tf.concat(columns, axis=1).numpy()
model = keras.Sequential([keras.Input((56,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(keras.optimizers.Nadam(2e-3), "mse", metrics=["mae"])
model.fit(cars, value, batch_size=50, epochs=8, validation_split=0.1, verbose=2)
