"""The layers are added in a loop: all but the last must return sequences.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import keras
from keras import layers

x = np.random.rand(64, 12, 4).astype("float32")
y = np.random.rand(64, 1).astype("float32")
model = keras.Sequential()
model.add(layers.Input((12, 4)))
for _ in range(3):
    model.add(layers.LSTM(16))  # <- here
model.add(layers.Dense(1))
model.compile("adam", "mse")
model.fit(x, y, epochs=1)
