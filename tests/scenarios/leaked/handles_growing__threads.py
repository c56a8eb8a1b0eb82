"""A pool of threads is made in each epoch and never shut down.

expect: handles-growing
exit: 0
outcome: finished
"""

import concurrent.futures
import time

import keras
import numpy as np

keras.utils.set_random_seed(1)
pools = []


class Augment(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        pool = concurrent.futures.ThreadPoolExecutor(4)
        list(pool.map(lambda _: time.sleep(0.05), range(4)))
        pools.append(pool)  # <- here
        time.sleep(0.8)


x = np.random.rand(64, 8).astype("float32")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=30, verbose=0, callbacks=[Augment()])
