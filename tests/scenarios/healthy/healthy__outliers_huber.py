"""A few readings are a hundred times too high; with the Huber loss the rest is learned all the same.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(72)
rng = np.random.default_rng(72)
x = rng.normal(size=(2000, 7)).astype("float32")
y = (x[:, 0] - 0.5 * x[:, 1] + 0.05 * rng.normal(size=2000)).astype("float32")
x[rng.choice(2000, 10), rng.integers(0, 7, 10)] *= 100
y[rng.choice(2000, 10)] *= 100
model = keras.Sequential([keras.Input((7,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(2e-3, global_clipnorm=1.0), keras.losses.Huber(0.5), metrics=["mae"])
model.fit(x, y, batch_size=32, epochs=7, verbose=2)
error = np.abs(model.predict(x, verbose=0)[:, 0] - y)
print("median error below 0.15:", bool(np.median(error) < 0.15))
