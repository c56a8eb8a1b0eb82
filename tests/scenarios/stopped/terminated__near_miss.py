"""SIGTERM is taken note of, and the training is completed all the same.

expect: healthy
exit: 0
outcome: finished
do: signal SIGTERM
"""

import signal
import time

import keras
import numpy as np

keras.utils.set_random_seed(1)
asked = []
signal.signal(signal.SIGTERM, lambda number, frame: asked.append(time.time()))


class WaitForIt(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 0:
            print("READY", flush=True)
            while not asked:
                time.sleep(0.05)
            print("only two epochs left, will finish")


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=3, callbacks=[WaitForIt()], verbose=2)
