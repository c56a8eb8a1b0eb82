"""A cache of the program's own fills through a third of the run, then stays.

expect: healthy
exit: 0
outcome: finished
"""

import time

import keras
import numpy as np

keras.utils.set_random_seed(1)
cache = {}


class Data(keras.utils.PyDataset):
    def __len__(self):
        return 20

    def __getitem__(self, index):
        key = (index * 7919 + int(time.time() * 50)) % 300
        if key not in cache:
            cache[key] = np.random.rand(32, 10_000)
        time.sleep(0.03)
        return cache[key][:, :8], cache[key][:, 8]


model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(Data(), epochs=60, verbose=0)
