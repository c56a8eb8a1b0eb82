"""Of two fits the first runs through and the second is ended by EarlyStopping.

expect: early-stopping
exit: 0
outcome: stopped
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(96, 4).astype("float32")
y = np.random.rand(96).astype("float32")
model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.05), loss="mse")
model.fit(x, y, epochs=2, verbose=2)
stop = keras.callbacks.EarlyStopping(monitor="loss", min_delta=10.0, patience=2)
model.fit(x, y, epochs=30, callbacks=[stop], verbose=2)  # <- here
