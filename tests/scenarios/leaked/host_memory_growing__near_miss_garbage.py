"""Reference cycles hold arrays until Python collects them: memory goes up and down.

expect: healthy
exit: 0
outcome: finished
"""

import gc
import time

import keras
import numpy as np

keras.utils.set_random_seed(1)
gc.set_threshold(700, 10, 40)


class Node:
    def __init__(self):
        self.data = np.ones(400_000, dtype="float64")
        self.me = self


class Garbage(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        Node()
        time.sleep(0.02)


x = np.random.rand(640, 8).astype("float32")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=50, verbose=0, callbacks=[Garbage()])
