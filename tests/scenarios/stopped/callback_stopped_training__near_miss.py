"""stop_training is set in the last epoch, when everything is done anyway.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
EPOCHS = 4


class Finish(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == EPOCHS - 1:
            self.model.stop_training = True


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=EPOCHS, callbacks=[Finish()], verbose=2)
