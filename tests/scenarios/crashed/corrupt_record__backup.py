"""Training is to go on from a backup that was being written when the machine went down.

expect: corrupt-record
exit: 1
outcome: crashed
"""

import os

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(64, 4).astype("float32")


class GoesDown(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 2:
            raise RuntimeError("power cut")


def train(*more):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    backup = keras.callbacks.BackupAndRestore("backup")  # <- here
    model.fit(x, x.sum(axis=1), epochs=5, verbose=2, callbacks=[backup, *more])


try:
    train(GoesDown())
except RuntimeError:
    os.truncate("backup/latest.weights.h5", 8192)
train()
