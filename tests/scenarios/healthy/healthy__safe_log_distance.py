"""A loss of its own with a logarithm and a square root, both kept away from zero by a small number.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
from keras import ops

keras.utils.set_random_seed(81)
raw = np.random.gamma(0.3, 1.0, (2000, 6))
share = (raw / raw.sum(axis=1, keepdims=True)).astype("float32")
clues = (np.log(share + 1e-2) @ np.random.normal(size=(6, 10)) / 4).astype("float32")


def hellinger_and_divergence(actual, guess):
    divergence = ops.sum(actual * (ops.log(actual + 1e-7) - ops.log(guess + 1e-7)), axis=-1)
    apart = ops.sum(ops.square(ops.sqrt(actual + 1e-9) - ops.sqrt(guess + 1e-9)), axis=-1)
    return divergence + ops.sqrt(apart + 1e-9)


model = keras.Sequential(
    [keras.Input((10,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(6, activation="softmax")]
)
model.compile(keras.optimizers.Adam(2e-3), loss=hellinger_and_divergence)
model.fit(clues, share, batch_size=32, epochs=8, verbose=2)
