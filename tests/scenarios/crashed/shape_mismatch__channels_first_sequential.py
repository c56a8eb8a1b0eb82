"""Images and Input are channels-first; pooling has nothing left of the first side.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import keras
from keras import layers

x_train = np.random.rand(40, 3, 32, 32).astype("float32")
y_train = np.random.randint(0, 10, 40)

model = keras.Sequential([
    keras.Input(shape=(3, 32, 32)),
    layers.Conv2D(16, (3, 3), activation="relu"),  # <- here
    layers.MaxPooling2D((2, 2)),
    layers.Flatten(),
    layers.Dense(10, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, epochs=1)
