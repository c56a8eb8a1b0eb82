"""A child that prepares data is killed with SIGKILL; the training notices, goes on, and is complete.

expect: healthy
exit: 0
outcome: finished
"""

import subprocess

import keras
import numpy as np

keras.utils.set_random_seed(1)
loader = subprocess.Popen(["sleep", "600"])


class KillLoader(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 1:
            loader.kill()
            print("loader ended with", loader.wait())


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=4, callbacks=[KillLoader()], verbose=2)
