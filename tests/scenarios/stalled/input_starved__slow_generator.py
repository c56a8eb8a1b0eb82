"""Every batch takes its generator twelve seconds: slow from the start, never stuck.

expect: input-starved
exit: 0
outcome: finished
"""

import time

import keras
import numpy as np

keras.utils.set_random_seed(29)


def simulations():
    rng = np.random.default_rng(0)
    while True:
        time.sleep(12)
        x = rng.random((64, 10), dtype="float32")
        yield x, x.sum(axis=1)


model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(simulations(), steps_per_epoch=2, epochs=2, verbose=2)
