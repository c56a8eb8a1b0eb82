"""tf.errors.AbortedError has the word in its name, but it is an ordinary exception.

expect: unhandled-exception
exit: 1
outcome: crashed
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)


def synchronise():
    raise tf.errors.AbortedError(None, None, "Aborted: the coordination service was shut down")  # <- here


x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, x.sum(axis=1), epochs=2, verbose=2)
synchronise()
