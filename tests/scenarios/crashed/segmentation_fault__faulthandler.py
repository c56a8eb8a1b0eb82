"""The user has faulthandler on, as its own manual advises; fit runs in a thread.

expect: segmentation-fault
exit: SIGSEGV
outcome: crashed
when: test
"""

import ctypes
import faulthandler
import threading

import numpy as np
import tf_keras

faulthandler.enable()
tf_keras.utils.set_random_seed(1)


class Native(tf_keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 1:
            ctypes.string_at(0)  # <- here


def train():
    x = np.random.rand(64, 4).astype("float32")
    model = tf_keras.Sequential([tf_keras.layers.Dense(8), tf_keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    model.fit(x, x.sum(axis=1), epochs=5, callbacks=[Native()], verbose=0)


thread = threading.Thread(target=train)
thread.start()
thread.join()
