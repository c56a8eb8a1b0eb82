"""A callback looks up a metric that is not in the logs.

expect: callback-raised
exit: 1
outcome: crashed
when: test
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


class SaveBest(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.best = float("inf")

    def on_epoch_end(self, epoch, logs=None):
        if logs["val_loss"] < self.best:  # <- here
            self.best = logs["val_loss"]
            self.model.save_weights("best.weights.h5")


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=5, callbacks=[SaveBest()], verbose=2)
