"""sys.exit(main()) with code 0, after all epochs.

expect: healthy
exit: 0
outcome: finished
"""

import sys

import keras
import numpy as np


def main():
    keras.utils.set_random_seed(1)
    x = np.random.rand(64, 4).astype("float32")
    model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
    model.compile(optimizer="adam", loss="mse")
    model.fit(x, x.sum(axis=1), epochs=3, verbose=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
