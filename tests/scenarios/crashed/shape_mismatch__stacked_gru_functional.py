"""The same with GRU layers in a functional model.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

X = np.random.rand(64, 20, 6).astype("float32")
y = np.random.randint(0, 3, 64)

inputs = keras.Input(shape=(20, 6))
x = layers.GRU(16)(inputs)  # <- here
x = layers.GRU(8)(x)
outputs = layers.Dense(3, activation="softmax")(x)
model = keras.Model(inputs, outputs)
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(X, y, epochs=1)
