"""Two LSTM layers, and the first returns only its last output.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import keras
import numpy as np
from keras.layers import LSTM, Dense, Dropout
from keras.models import Sequential

prices = np.random.rand(120, 60, 1).astype("float32")
target = prices[:, -1, 0] * 1.01

regressor = Sequential()
regressor.add(keras.Input((60, 1)))
regressor.add(LSTM(units=16))  # <- here
regressor.add(Dropout(0.2))
regressor.add(LSTM(units=16))
regressor.add(Dropout(0.2))
regressor.add(Dense(units=1))

regressor.compile(optimizer="adam", loss="mean_squared_error")
regressor.fit(prices, target, epochs=2, batch_size=32)
