"""A callback uploads for eight seconds after every second epoch; the training is complete.

expect: healthy
exit: 0
outcome: finished
"""

import time

import keras
import numpy as np

keras.utils.set_random_seed(5)


class Upload(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch % 2:
            self.model.save("model.keras")
            for _ in range(16):  # parts of the upload
                time.sleep(0.5)
            print("uploaded epoch", epoch)


x = np.random.rand(4000, 16).astype("float32")
model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=6, batch_size=16, callbacks=[Upload()], verbose=2)
