"""A helper thread that uploads metrics dies of an exception; the training itself is complete.

expect: healthy
exit: 0
outcome: finished
"""

import threading

import keras
import numpy as np

keras.utils.set_random_seed(1)


def upload():
    raise ConnectionError("metrics.example.org is away")


class Upload(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        thread = threading.Thread(target=upload)
        thread.start()
        thread.join()


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=3, callbacks=[Upload()], verbose=2)
