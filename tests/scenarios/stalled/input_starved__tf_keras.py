"""tf_keras: a slow generator feeds a small model.

expect: input-starved
exit: 0
outcome: finished
"""

import time

import numpy as np
import tf_keras

tf_keras.utils.set_random_seed(17)


def windows(series, length=48, batch=16):
    rng = np.random.default_rng(0)
    while True:
        starts = rng.integers(0, len(series) - length - 1, batch)
        time.sleep(0.04)  # the query to the time series database
        x = np.stack([series[s : s + length] for s in starts])
        yield x, series[starts + length]


series = np.sin(np.arange(5000) / 20).astype("float32")
model = tf_keras.Sequential([tf_keras.layers.Dense(32, activation="relu"), tf_keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(windows(series), steps_per_epoch=100, epochs=4, verbose=2)
