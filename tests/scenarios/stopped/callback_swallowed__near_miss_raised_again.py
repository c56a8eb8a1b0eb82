"""The except only logs, and raises again: nothing is hidden.

expect: callback-raised
exit: 1
outcome: crashed
"""

import logging

import keras
import numpy as np

keras.utils.set_random_seed(1)


class Check(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 1:
            raise ValueError("the learning rate went astray")  # <- here


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
try:
    model.fit(x, x.sum(axis=1), epochs=5, callbacks=[Check()], verbose=2)
except ValueError:
    logging.error("training failed")
    raise
