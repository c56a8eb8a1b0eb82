"""A tf_keras callback divides by a counter that is still zero, in the middle of an epoch.

expect: callback-raised
exit: 1
outcome: crashed
"""

import numpy as np
import tf_keras as keras

keras.utils.set_random_seed(1)


class Throughput(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.samples = self.seconds = 0

    def on_train_batch_end(self, batch, logs=None):
        self.samples += 16
        if batch == 2:
            print("samples per second:", self.samples / self.seconds)  # <- here


x = np.random.rand(128, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), batch_size=16, epochs=3, callbacks=[Throughput()], verbose=2)
