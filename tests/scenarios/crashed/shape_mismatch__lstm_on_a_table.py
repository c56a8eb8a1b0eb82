"""An LSTM after a Dense layer on a table: nobody made a sequence.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import keras
from keras import layers

x = np.random.rand(64, 12).astype("float32")
y = np.random.rand(64, 1).astype("float32")
model = keras.Sequential([
    layers.Dense(16, activation="relu"),
    layers.LSTM(16),  # <- here
    layers.Dense(1),
])
model.compile("adam", "mse")
model.fit(x, y, epochs=1)
