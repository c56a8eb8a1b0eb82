"""class_weight with class indices for each step.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import keras
from keras import layers

x = np.random.randint(0, 50, (64, 20))
y = np.random.randint(0, 4, (64, 20))
model = keras.Sequential([
    layers.Embedding(50, 16),
    layers.LSTM(16, return_sequences=True),
    layers.Dense(4, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy")
weights = {0: 0.1, 1: 5.0, 2: 5.0, 3: 1.0}
model.fit(x, y, epochs=1, class_weight=weights)  # <- here
