"""A regression with plain SGD and a step of 1: the loss grows until it overflows.

expect: learning-rate-too-high
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(71)
rng = np.random.default_rng(71)
x = rng.normal(size=(960, 8)).astype("float32")
y = x @ rng.normal(size=8).astype("float32") + 0.1 * rng.normal(size=960)

model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(learning_rate=1.0), loss="mse", metrics=["mae"])  # <- here
model.fit(x, y, epochs=6, batch_size=32, validation_split=0.2, verbose=2)
