"""Ctrl-C in the middle of fit: SIGINT to the whole group.

expect: interrupted
exit: SIGINT
outcome: stopped
do: signal SIGINT
to: group
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


class Ready(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch == 20:
            print("READY", flush=True)


def batches():
    while True:
        yield np.ones((256, 64), "float32"), np.ones((256, 1), "float32")


model = keras.Sequential([keras.layers.Dense(256), keras.layers.Dense(256), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(batches(), steps_per_epoch=1_000_000, epochs=2, callbacks=[Ready()], verbose=0)
