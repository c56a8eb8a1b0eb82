"""A model of 600 MB is written after each epoch, to disk and for certain (fsync).

expect: healthy
exit: 0
outcome: finished
"""

import os

import keras
import numpy as np

keras.utils.set_random_seed(29)


class SaveForCertain(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.model.save("model.keras")
        with open("model.keras", "rb") as file:
            os.fsync(file.fileno())


x = np.random.randint(0, 1_200_000, (320, 4))
model = keras.Sequential([keras.layers.Embedding(1_200_000, 128), keras.layers.Flatten(), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
model.fit(x, np.random.rand(320), batch_size=32, epochs=2, callbacks=[SaveForCertain()], verbose=2)
os.remove("model.keras")
