"""Data comes from a generator, and it is a callback that raises the same KeyError.

expect: callback-raised
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


def batches():
    rng = np.random.default_rng(0)
    while True:
        x = rng.random((8, 4), dtype="float32")
        yield x, x.sum(axis=1)


class Report(keras.callbacks.Callback):
    names = {0: "warm-up"}

    def on_epoch_begin(self, epoch, logs=None):
        print("phase:", self.names[epoch])  # <- here


model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
try:
    model.fit(batches(), steps_per_epoch=10, epochs=3, callbacks=[Report()], verbose=2)
finally:
    model.save("last.keras")
