"""A cache of the program's own fills through a third of the run, then stays.

expect: healthy
exit: 0
outcome: finished
"""

import itertools
import time

import keras
import numpy as np

keras.utils.set_random_seed(1)
cache, asked = {}, itertools.count()


class Data(keras.utils.PyDataset):
    def __len__(self):
        return 20

    def __getitem__(self, index):
        key = next(asked) * 3 // 4 % 300
        if key not in cache:
            cache[key] = np.random.rand(32, 10_000)
        return cache[key][:, :8], cache[key][:, :8].sum(axis=1)


model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
slow = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: time.sleep(0.03))
model.fit(Data(), epochs=60, callbacks=[slow], verbose=0)
