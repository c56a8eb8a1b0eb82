"""A mirrored strategy that is supported, and a callback of one's own that fails under it.

expect: callback-raised
exit: 1
outcome: crashed
"""

import keras
import numpy as np
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy(["CPU:0"])
keras.utils.set_random_seed(1)
x = np.random.rand(64, 4).astype("float32")


class PerReplica(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print("loss per replica:", logs["loss"] / (strategy.num_replicas_in_sync - 1))  # <- here


with strategy.scope():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=3, callbacks=[PerReplica()], verbose=2)
