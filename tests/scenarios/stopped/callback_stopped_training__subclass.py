"""A class that inherits from EarlyStopping but stops by a test of its own.

expect: callback-stopped-training
exit: 0
outcome: stopped
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


class StopOnOverfit(keras.callbacks.EarlyStopping):
    def on_epoch_end(self, epoch, logs=None):
        super().on_epoch_end(epoch, logs)
        if epoch >= 2 and logs["val_loss"] > 0.0 * logs["loss"]:
            self.model.stop_training = True  # <- here


x = np.random.rand(96, 4).astype("float32")
y = x.sum(axis=1)
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=10, validation_split=0.25, callbacks=[StopOnOverfit(patience=50)], verbose=2)
