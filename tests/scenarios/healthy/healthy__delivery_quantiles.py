"""Delivery times as three quantiles with a pinball loss of its own; the loss stays well above zero.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
from keras import ops

keras.utils.set_random_seed(19)
levels = np.array([0.1, 0.5, 0.9], dtype="float32")


def pinball(actual, predicted):
    error = actual - predicted
    return ops.mean(ops.maximum(levels * error, (levels - 1) * error), axis=-1)


distance = np.random.uniform(0, 3, (3000, 1))
minutes = 1 + distance + np.random.gamma(1.0, 0.4 + 0.3 * distance)
model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(32, activation="tanh"), keras.layers.Dense(3)])
model.compile(keras.optimizers.Adam(5e-3), loss=pinball)
model.fit(distance.astype("float32"), minutes.astype("float32"), batch_size=50, epochs=6, verbose=2)
guess = model.predict(distance, verbose=0)
print("below each quantile:", (minutes < guess).mean(axis=0).round(1))
