"""A callback pauses for 40 s so that the card cools down; the person loses patience in the middle of a pause.

expect: interrupted
exit: SIGINT
outcome: stopped
do: signal SIGINT
to: group
after: 14
"""

import time

import keras
import numpy as np

keras.utils.set_random_seed(5)


class CoolDown(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch % 3 == 2:
            print("READY", flush=True)
            time.sleep(40)


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=20, callbacks=[CoolDown()], verbose=0)
