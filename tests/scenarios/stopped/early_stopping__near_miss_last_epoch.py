"""EarlyStopping fires exactly at the end of the last epoch: nothing was cut off.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(64, 4).astype("float32")
model = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse")
stop = keras.callbacks.EarlyStopping(monitor="loss", min_delta=100.0, patience=3)
model.fit(x, x.sum(axis=1), epochs=4, callbacks=[stop], verbose=2)
