"""The callback that fails catches its own error, and training goes on to its end.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


class Upload(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        try:
            raise ConnectionError("metrics server is away")
        except ConnectionError as error:
            print("not uploaded:", error)


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=3, callbacks=[Upload()], verbose=2)
