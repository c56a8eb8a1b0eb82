"""Windows of 4 sensors, 60 steps and 8 features look like images with their channels first, and are none.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import keras
import numpy as np
from keras import layers

windows = np.random.rand(32, 4, 60, 8).astype("float32")
activity = np.random.randint(0, 6, 32)

inputs = keras.Input((4, 60, 8))
h = layers.Conv2D(16, 3, activation="relu")(inputs)
h = layers.Conv2D(16, 3, activation="relu")(h)  # <- here
h = layers.GlobalAveragePooling2D()(h)
model = keras.Model(inputs, layers.Dense(6, activation="softmax")(h))
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(windows, activity, epochs=1)
