"""Four times convolution and pooling are too many for images of 28 x 28.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import keras
from keras import layers

x = np.random.rand(20, 28, 28, 1).astype("float32")
y = np.random.randint(0, 10, 20)
model = keras.Sequential([keras.Input((28, 28, 1))])
for filters in (8, 16, 32, 64):
    model.add(layers.Conv2D(filters, 3, activation="relu"))  # <- here
    model.add(layers.MaxPooling2D(2))
model.add(layers.Flatten())
model.add(layers.Dense(10, activation="softmax"))
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(x, y, epochs=1)
