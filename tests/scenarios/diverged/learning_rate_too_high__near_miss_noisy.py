"""Tiny batches and dropout: the loss of a batch goes up and down a lot, the epochs get better.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(78)
rng = np.random.default_rng(78)
x = rng.normal(size=(600, 10)).astype("float32")
y = x[:, 0] - 2 * x[:, 1] + 0.8 * rng.normal(size=600)

model = keras.Sequential([keras.layers.Dense(48, activation="relu"), keras.layers.Dropout(0.3), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(0.003), loss="mse")
model.fit(x, y, epochs=6, batch_size=4, validation_split=0.2, verbose=2)
