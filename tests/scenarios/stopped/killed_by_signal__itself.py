"""The program kills itself: a watchdog in the callback uses SIGKILL to be quite sure.

expect: killed-by-signal
exit: SIGKILL
outcome: stopped
when: test
"""

import os
import signal

import keras
import numpy as np

keras.utils.set_random_seed(1)


class Watchdog(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 2:
            os.kill(os.getpid(), signal.SIGKILL)  # <- here


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=10, callbacks=[Watchdog()], verbose=0)
