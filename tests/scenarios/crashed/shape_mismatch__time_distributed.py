"""TimeDistributed after an LSTM that returns only its last output.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import keras
from keras import layers

x = np.random.rand(64, 12, 4).astype("float32")
y = np.random.rand(64, 12, 1).astype("float32")
model = keras.Sequential([
    layers.Input((12, 4)),
    layers.LSTM(16),  # <- here
    layers.TimeDistributed(layers.Dense(1)),
])
model.compile("adam", "mse")
model.fit(x, y, epochs=1)
