"""Cross-validation: the callback object that is used again fails in the second fold.

expect: callback-raised
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


class WriteLog(keras.callbacks.Callback):
    def __init__(self, path):
        super().__init__()
        self.file = open(path, "w")

    def on_epoch_end(self, epoch, logs=None):
        self.file.write(f"{epoch},{logs['loss']}\n")  # <- here

    def on_train_end(self, logs=None):
        self.file.close()


x = np.random.rand(96, 4).astype("float32")
y = x.sum(axis=1)
log = WriteLog("log.csv")
for fold in range(3):
    print("fold", fold)
    keep = np.arange(96) % 3 != fold
    model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    model.fit(x[keep], y[keep], epochs=2, callbacks=[log], verbose=2)
