"""class_weight with one-hot labels for each step.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import keras
from keras import layers

x = np.random.randint(0, 50, (64, 20))
y = keras.utils.to_categorical(np.random.randint(0, 4, (64, 20)), 4)
model = keras.Sequential([
    layers.Embedding(50, 16, mask_zero=True),
    layers.Bidirectional(layers.LSTM(16, return_sequences=True)),
    layers.TimeDistributed(layers.Dense(4, activation="softmax")),
])
model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=1, class_weight={0: 0.1, 1: 5.0, 2: 5.0, 3: 1.0})  # <- here
