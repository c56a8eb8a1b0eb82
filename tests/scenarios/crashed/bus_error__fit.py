"""The same in the middle of fit, with a generator as input.

expect: bus-error
exit: SIGBUS
outcome: crashed
"""

import os

import numpy as np
import tf_keras

tf_keras.utils.set_random_seed(1)
np.random.rand(200_000, 4).astype("float32").tofile("train.bin")
data = np.memmap("train.bin", dtype="float32", mode="r", shape=(200_000, 4))


class Export(tf_keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        os.truncate("train.bin", 4096)


class Batches(tf_keras.utils.Sequence):
    def __len__(self):
        return 10

    def __getitem__(self, i):
        x = np.array(data[i * 20_000 : i * 20_000 + 100])  # <- here
        return x, x.sum(axis=1)


model = tf_keras.Sequential([tf_keras.layers.Dense(8), tf_keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(Batches(), epochs=3, callbacks=[Export()], verbose=0)
