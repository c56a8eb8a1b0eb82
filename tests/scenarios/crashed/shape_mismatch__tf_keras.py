"""tf_keras: an LSTM built for 10 time steps is given a table of 9 columns.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import tf_keras
from tf_keras import layers

tf_keras.utils.set_random_seed(1)
X_train = np.random.rand(100, 9).astype("float32")
y_train = np.random.rand(100, 1).astype("float32")

model = tf_keras.Sequential()
model.add(layers.LSTM(8, input_shape=(10, 1)))
model.add(layers.Dropout(0.2))
model.add(layers.Dense(1))
model.compile(loss="mse", optimizer="adam")
model.fit(X_train, y_train, epochs=2, verbose=2)  # <- here
