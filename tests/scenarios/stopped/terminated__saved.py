"""SIGTERM in the middle of a fit, with --save-before-death: the model is saved first, then it ends as it would have.

expect: terminated
exit: SIGTERM
outcome: stopped
env: LASTSTEP_SAVE_BEFORE_DEATH=1
do: signal SIGTERM
"""

import time

import keras
import numpy as np

keras.utils.set_random_seed(1)


class Ready(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 1:
            print("READY", flush=True)
        time.sleep(0.05)


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=2000, callbacks=[Ready()], verbose=0)
