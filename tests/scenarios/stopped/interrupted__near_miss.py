"""The first Ctrl-C only asks whether that was meant; the training is completed.

expect: healthy
exit: 0
outcome: finished
do: signal SIGINT
to: group
"""

import signal
import time

import keras
import numpy as np

keras.utils.set_random_seed(1)
presses = []
signal.signal(signal.SIGINT, lambda number, frame: presses.append(number))


class WaitForIt(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 0:
            print("READY", flush=True)
            while not presses:
                time.sleep(0.05)
            print("press Ctrl-C again to really stop")


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=3, callbacks=[WaitForIt()], verbose=2)
