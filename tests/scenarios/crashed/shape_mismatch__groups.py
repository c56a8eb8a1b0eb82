"""Two groups of channels in a picture of three.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import keras
from keras import layers

x = np.random.rand(16, 32, 32, 3).astype("float32")
y = np.random.randint(0, 5, 16)
model = keras.Sequential([
    keras.Input((32, 32, 3)),
    layers.Conv2D(16, 3, groups=2, activation="relu"),  # <- here
    layers.GlobalAveragePooling2D(),
    layers.Dense(5, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(x, y, epochs=1)
