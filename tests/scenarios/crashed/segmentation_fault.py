"""A native call in a callback reads from address 0.

expect: segmentation-fault
exit: SIGSEGV
outcome: crashed
"""

import ctypes

import keras
import numpy as np

keras.utils.set_random_seed(1)


class NativeStats(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 1:
            self.read_counter(0)

    def read_counter(self, address):
        return ctypes.c_long.from_address(address).value  # <- here


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=5, callbacks=[NativeStats()], verbose=0)
