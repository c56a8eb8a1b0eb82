"""A learning rate of 10 on unscaled targets: the loss climbs until it is no number any more.

expect: learning-rate-too-high
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.default_rng(0).random((256, 8)) * 100
y = x.sum(axis=1) * 1000

model = keras.Sequential([keras.layers.Dense(64), keras.layers.Dense(64), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(10.0), "mse")
history = model.fit(x, y, epochs=4, validation_split=0.2, verbose=0)
print(history.history["loss"])
