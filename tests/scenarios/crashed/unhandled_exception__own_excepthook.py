"""The program installs a sys.excepthook of its own, which logs in its own way.

expect: unhandled-exception
exit: 1
outcome: crashed
"""

import sys

import keras
import numpy as np

keras.utils.set_random_seed(1)


def log_and_die(kind, error, traceback):
    print(f"FATAL {kind.__name__}: {error}", file=sys.stderr)


sys.excepthook = log_and_die

x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=2, verbose=2)
model.load_weights_from_s3("s3://bucket/model")  # <- here
