"""Stands in for a card: its memory in use grows with the first epochs, then it stays, up and down.

expect: healthy
exit: 0
outcome: finished
"""

import time

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
steps = [0]

# There is no card here: the two questions that can be asked about one are answered as on one whose pool fills.
tf.config.list_logical_devices = lambda kind=None: [object()] if kind == "GPU" else []
tf.config.experimental.get_memory_info = lambda name: {
    "current": 800_000_000 + min(steps[0], 200) * 1_500_000 + (steps[0] * 7919) % 11 * 1_000_000,
    "peak": 900_000_000 + min(steps[0], 200) * 1_500_000,
}


class Count(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        steps[0] += 1
        time.sleep(0.05)


x = np.random.rand(320, 8).astype("float32")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=60, verbose=0, callbacks=[Count()])
