"""A tag for each word, and an LSTM that returns only its last output.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import keras
from keras import layers

x = np.random.randint(0, 50, (64, 20))
y = np.random.randint(0, 9, (64, 20))  # a tag for each word
model = keras.Sequential([
    layers.Embedding(50, 16),
    layers.LSTM(32),  # <- here
    layers.Dense(9, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=1)
