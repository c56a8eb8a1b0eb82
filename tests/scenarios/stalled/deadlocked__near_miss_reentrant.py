"""A lock that its own holder takes again, and which may be: the training is complete.

expect: healthy
exit: 0
outcome: finished
"""

import threading

import keras
import numpy as np


class State(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.lock = threading.RLock()
        self.losses = []

    def on_epoch_end(self, epoch, logs=None):
        with self.lock:
            self.losses.append(logs["loss"])
            self.save()

    def save(self):
        with self.lock:
            np.save("losses.npy", self.losses)


keras.utils.set_random_seed(9)
x = np.random.rand(640, 6).astype("float32")
model = keras.Sequential([keras.layers.Dense(12, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=6, callbacks=[State()], verbose=2)
