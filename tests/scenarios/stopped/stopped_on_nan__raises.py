"""TerminateOnNaN in its strict form, which raises.

expect: bad-input-values
also: stopped-on-nan
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(128, 4).astype("float32")
x[70, 2] = np.nan  # <- here
y = x.sum(axis=1)
model = keras.Sequential([keras.layers.Dense(16), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
strict = keras.callbacks.TerminateOnNaN(raise_error=True)
model.fit(x, y, batch_size=32, epochs=3, callbacks=[strict], verbose=2)
