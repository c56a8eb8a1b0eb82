"""A timer thread with a time budget sets stop_training from outside.

expect: finished-short
exit: 0
outcome: stopped
"""

import threading
import time

import keras
import numpy as np

keras.utils.set_random_seed(1)


def budget_is_spent():
    model.stop_training = True  # <- here


class Slow(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        time.sleep(0.2)


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
threading.Timer(2.0, budget_is_spent).start()
model.fit(x, x.sum(axis=1), epochs=200, callbacks=[Slow()], verbose=0)
