"""A callback calls sys.exit in the middle of an epoch."""

import sys
import time

import keras
import numpy as np


class TimeBudget(keras.callbacks.Callback):
    """Exit when the time that was paid for is used up."""

    def __init__(self, seconds):
        super().__init__()
        self.end = time.monotonic() + seconds

    def on_train_batch_end(self, batch, logs=None):
        if time.monotonic() > self.end:
            sys.exit()


keras.utils.set_random_seed(1)
x = np.random.normal(size=(6400, 20)).astype("float32")
y = x[:, :3].sum(axis=1, keepdims=True)
model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=200, batch_size=32, verbose=2, callbacks=[TimeBudget(seconds=3)])
model.save("model.keras")
