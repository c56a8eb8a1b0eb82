"""Gray images in a network that takes three colours.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import keras
import numpy as np
from keras import layers

gray = np.random.rand(32, 48, 48, 1).astype("float32")
labels = np.random.randint(0, 7, 32)

backbone = keras.Sequential(
    [keras.Input((48, 48, 3)), layers.Conv2D(8, 3, strides=2, activation="relu"), layers.GlobalAveragePooling2D()],
    name="backbone",
)
model = keras.Sequential([backbone, layers.Dense(7, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(gray, labels, epochs=1)  # <- here
