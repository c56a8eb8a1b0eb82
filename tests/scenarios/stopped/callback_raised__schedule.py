"""Keras's own LearningRateScheduler does not like what the user's schedule gives back.

expect: callback-raised
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


def schedule(epoch, lr):
    if epoch < 2:
        return lr
    if epoch > 2:
        return lr * 0.1


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
model.fit(x, x.sum(axis=1), epochs=5, callbacks=[keras.callbacks.LearningRateScheduler(schedule)], verbose=2)  # <- here
