"""Forked children leave by sys.exit and os._exit while a fit goes on; the program itself does not.

expect: healthy
exit: 0
outcome: finished
"""

import os
import sys

import keras
import numpy as np

keras.utils.set_random_seed(1)


def prepare(epoch):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            sys.exit(1)
        finally:
            os._exit(4)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


class PrepareNext(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print("child left with", prepare(epoch))


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=3, callbacks=[PrepareNext()], verbose=2)
