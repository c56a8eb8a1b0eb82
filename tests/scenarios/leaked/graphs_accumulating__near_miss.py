"""One model is fitted many times: that leaks nothing.

expect: healthy
exit: 0
outcome: finished
"""

import time

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(640, 64).astype("float32")
model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(64), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
end = time.time() + 20
while time.time() < end:
    model.fit(x, x.sum(axis=1), epochs=1, batch_size=320, verbose=0)
    model.evaluate(x, x.sum(axis=1), verbose=0)
