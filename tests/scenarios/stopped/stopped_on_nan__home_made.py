"""A callback of the user's own that stops when the loss is not a number.

expect: bad-input-values
also: stopped-on-nan
exit: 0
outcome: stopped
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


class StopIfBroken(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if not np.isfinite(logs["loss"]):
            print("loss is", logs["loss"])
            self.model.stop_training = True


x = np.random.rand(128, 4).astype("float32")
y = x.sum(axis=1)
y[50] = np.inf  # <- here
model = keras.Sequential([keras.layers.Dense(16), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, batch_size=16, epochs=5, callbacks=[StopIfBroken()], verbose=2)
