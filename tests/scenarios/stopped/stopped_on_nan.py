"""A learning rate far too high makes the loss infinite, and TerminateOnNaN ends it.

expect: learning-rate-too-high
also: stopped-on-nan
exit: 0
outcome: stopped
when: test
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(128, 4).astype("float32")
y = x.sum(axis=1)
model = keras.Sequential([keras.layers.Dense(16), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(50.0), loss="mse")  # <- here
model.fit(x, y, batch_size=16, epochs=10, callbacks=[keras.callbacks.TerminateOnNaN()], verbose=2)
