"""The program aborts itself: os.abort() when an invariant does not hold.

expect: aborted
exit: SIGABRT
outcome: crashed
"""

import os

import numpy as np
import tf_keras

tf_keras.utils.set_random_seed(1)


class Invariant(tf_keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 1:
            os.abort()  # <- here


x = np.random.rand(64, 4).astype("float32")
model = tf_keras.Sequential([tf_keras.layers.Dense(8), tf_keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=5, callbacks=[Invariant()], verbose=0)
