"""A shortcut around layers that double the filters.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import keras
from keras import layers
import numpy as np

inputs = keras.Input((32, 32, 3))
x = layers.Conv2D(16, 3, padding="same", activation="relu")(inputs)
shortcut = x
x = layers.Conv2D(32, 3, padding="same", activation="relu")(x)
x = layers.Conv2D(32, 3, padding="same")(x)
x = layers.Add()([x, shortcut])  # <- here
x = layers.GlobalAveragePooling2D()(x)
model = keras.Model(inputs, layers.Dense(5, activation="softmax")(x))
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(np.random.rand(16, 32, 32, 3), np.random.randint(0, 5, 16), epochs=1)
