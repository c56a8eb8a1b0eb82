"""The disk for the extra copy is full; the callback says so and goes on without.

expect: healthy
exit: 0
outcome: finished
"""

import errno

import keras
import numpy as np

keras.utils.set_random_seed(1)


class KeepCopy(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        try:
            with open("/dev/full", "wb") as f:  # a device that is always full
                np.save(f, self.model.get_weights()[0])
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            print(f"epoch {epoch} not copied: {error}")


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=3, callbacks=[KeepCopy()], verbose=2)
