"""`raise SystemExit(2)` inside a callback: no function is called that could be seen.

expect: script-exited
exit: 2
outcome: stopped
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


class Guard(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 1:
            raise SystemExit(2)


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=10, callbacks=[Guard()], verbose=2)
