"""A callback that takes twelve seconds at the end of every epoch.

expect: healthy
exit: 0
outcome: finished
"""

import time

import keras
import numpy as np

keras.utils.set_random_seed(29)


class SyncToBucket(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.model.save(f"epoch-{epoch}.keras")
        time.sleep(12)


x = np.random.rand(4000, 10).astype("float32")
model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), batch_size=16, epochs=2, callbacks=[SyncToBucket()], verbose=2)
