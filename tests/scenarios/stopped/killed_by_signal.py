"""Another process sends SIGKILL in the middle of fit; memory has nothing to do with it.

expect: killed-by-signal
exit: SIGKILL
outcome: stopped
do: signal SIGKILL
to: program
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
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")

model.fit(x, x.sum(axis=1), epochs=2000, callbacks=[Ready()], verbose=0)
