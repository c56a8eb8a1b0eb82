"""A schedule that was to warm up for some epochs and goes on doubling the rate.

expect: learning-rate-too-high
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(74)
rng = np.random.default_rng(74)
x = rng.normal(size=(800, 10)).astype("float32")
y = np.sin(x[:, 0]) + x[:, 1] * 0.5


def warm_up(epoch, rate):
    return rate * 2


inputs = keras.Input((10,))
hidden = keras.layers.Dense(32, activation="tanh")(inputs)
hidden = keras.layers.Dense(16, activation="tanh")(hidden)
model = keras.Model(inputs, keras.layers.Dense(1)(hidden))
model.compile(optimizer=keras.optimizers.SGD(0.005), loss="mse")
schedule = keras.callbacks.LearningRateScheduler(warm_up)
model.fit(x, y, epochs=14, batch_size=40, callbacks=[schedule], verbose=2)
