"""One label for each text, and an LSTM that returns its output of each step.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import keras
from keras import layers

tokens = np.random.randint(0, 200, (96, 25))
labels = np.random.randint(0, 4, 96)

model = keras.Sequential([
    layers.Embedding(200, 16),
    layers.LSTM(16, return_sequences=True),  # <- here
    layers.Dense(4, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(tokens, labels, epochs=2)
