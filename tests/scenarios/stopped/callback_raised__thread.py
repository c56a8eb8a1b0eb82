"""fit runs in a thread of a little server; its callback raises and the program itself ends well.

expect: callback-raised
exit: 0
outcome: stopped
"""

import threading

import keras
import numpy as np

keras.utils.set_random_seed(1)
progress = {}


class Publish(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 1:
            progress["accuracy"].append(logs["loss"])  # <- here


def train():
    x = np.random.rand(64, 4).astype("float32")
    model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    model.fit(x, x.sum(axis=1), epochs=5, callbacks=[Publish()], verbose=2)


worker = threading.Thread(target=train, name="trainer")
worker.start()
worker.join()
print("server stops")
