"""New data comes every ten seconds: fit, wait, fit, wait, fit on one model.

expect: healthy
exit: 0
outcome: finished
"""

import time

import keras
import numpy as np


def main():
    keras.utils.set_random_seed(29)
    model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    for day in range(3):
        x = np.random.rand(1600, 10).astype("float32")
        model.fit(x, x.sum(axis=1), batch_size=16, epochs=2, verbose=2)
        if day < 2:
            print("waiting for the next day's data", flush=True)
            time.sleep(11)


main()
