"""The message of a stacked LSTM, and the LSTM before is right: a Flatten layer between them removes the steps.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import keras
import numpy as np
from keras import layers

x = np.random.rand(64, 12, 4).astype("float32")
y = np.random.rand(64, 1).astype("float32")

model = keras.Sequential()
model.add(keras.Input((12, 4)))
model.add(layers.LSTM(16, return_sequences=True))
model.add(layers.Flatten())  # <- here
model.add(layers.LSTM(8))
model.add(layers.Dense(1))
model.compile("adam", "mse")
model.fit(x, y, epochs=1)
