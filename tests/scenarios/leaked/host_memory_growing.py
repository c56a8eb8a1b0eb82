"""Raw records stay in a dict for good.

expect: host-memory-growing
exit: 0
outcome: finished
"""

import os
import time

import keras
import numpy as np

keras.utils.set_random_seed(1)


class Audit(keras.callbacks.Callback):
    records = {}

    def on_train_batch_end(self, batch, logs=None):
        self.records[len(self.records)] = os.urandom(700_000)  # <- here
        time.sleep(0.03)


x = np.random.rand(640, 8).astype("float32")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=32, verbose=0, callbacks=[Audit()])
