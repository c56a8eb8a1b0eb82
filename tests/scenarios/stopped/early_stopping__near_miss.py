"""A home-made callback that is only called EarlyStopping.

expect: callback-stopped-training
exit: 0
outcome: stopped
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


class EarlyStopping(keras.callbacks.Callback):
    def __init__(self, patience):
        super().__init__()
        self.patience = patience
        self.best = 0.0
        self.wait = 0

    def on_epoch_end(self, epoch, logs=None):
        if logs["loss"] < self.best:
            self.best = logs["loss"]
            self.wait = 0
        else:
            self.wait += 1
        if self.wait >= self.patience:
            self.model.stop_training = True  # <- here


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=20, callbacks=[EarlyStopping(3)], verbose=2)
