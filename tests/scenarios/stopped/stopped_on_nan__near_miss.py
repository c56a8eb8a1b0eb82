"""TerminateOnNaN is in the list, but the loss is fine and another callback stops.

expect: callback-stopped-training
exit: 0
outcome: stopped
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


class Enough(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 2:
            self.model.stop_training = True  # <- here


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
callbacks = [keras.callbacks.TerminateOnNaN(), Enough()]
model.fit(x, x.sum(axis=1), epochs=10, callbacks=callbacks, verbose=2)
