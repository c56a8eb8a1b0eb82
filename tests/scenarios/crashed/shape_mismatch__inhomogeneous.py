"""NumPy cannot make an array of sentences of different lengths.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import keras
from keras import layers

rng = np.random.default_rng(0)
sequences = [list(rng.integers(1, 99, rng.integers(4, 12))) for _ in range(64)]
labels = rng.integers(0, 2, 64)
x_train = np.array(sequences)  # <- here
model = keras.Sequential([layers.Embedding(100, 8), layers.LSTM(8), layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x_train, labels, epochs=1)
