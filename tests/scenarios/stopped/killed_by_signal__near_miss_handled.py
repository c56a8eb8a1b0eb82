"""SIGUSR1 is handled: the program saves a checkpoint and trains on to its end.

expect: healthy
exit: 0
outcome: finished
do: signal SIGUSR1
"""

import signal
import time

import keras
import numpy as np

keras.utils.set_random_seed(1)
got = []
signal.signal(signal.SIGUSR1, lambda number, frame: got.append(number))


class SaveWhenAsked(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 1:
            print("READY", flush=True)
            while not got:
                time.sleep(0.05)
            self.model.save_weights("asked.weights.h5")
            print("saved")


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=4, callbacks=[SaveWhenAsked()], verbose=2)
