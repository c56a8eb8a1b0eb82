"""A callback calls sys.exit(1) in the middle of fit when a sanity check fails.

expect: script-exited
exit: 1
outcome: stopped
"""

import sys

import keras
import numpy as np

keras.utils.set_random_seed(1)


def check(loss):
    if loss > 0:
        sys.exit(1)  # <- here


class SanityCheck(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 1:
            check(logs["loss"])


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=10, callbacks=[SanityCheck()], verbose=2)
