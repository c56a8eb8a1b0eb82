"""Stands in for a card: the kernel's log speaks of another process's card; this training is not touched.

expect: healthy
exit: 0
outcome: finished
needs: kernel-log
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


class Neighbour(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch == 1:
            with open("/dev/kmsg", "w") as kernel_log:
                kernel_log.write("NVRM: Xid (PCI:0000:af:00): 79, pid=1, name=python, GPU has fallen off the bus.\n")


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=4, callbacks=[Neighbour()], verbose=2)
