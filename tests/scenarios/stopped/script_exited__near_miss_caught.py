"""One trial of a search calls sys.exit; the search catches that and goes on, and the next trials are complete.

expect: healthy
exit: 0
outcome: finished
"""

import sys

import keras
import numpy as np

keras.utils.set_random_seed(1)


class GiveUp(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if self.model.optimizer.learning_rate > 0.05:
            sys.exit("this one is hopeless")


x = np.random.rand(64, 4).astype("float32")
for rate in (0.1, 0.01, 0.001):
    model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.Adam(rate), loss="mse")
    try:
        model.fit(x, x.sum(axis=1), epochs=2, callbacks=[GiveUp()], verbose=2)
    except SystemExit as error:
        print("trial left out:", error)
