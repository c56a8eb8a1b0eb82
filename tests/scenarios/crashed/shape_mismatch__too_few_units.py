"""Three classes, and a last layer of two units.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import numpy as np
import keras

X = np.random.rand(100, 4).astype("float32")
y = keras.utils.to_categorical(np.random.randint(0, 3, 100), 3)
model = keras.Sequential()
model.add(keras.layers.Dense(8, activation="relu"))
model.add(keras.layers.Dense(2, activation="softmax"))  # <- here
model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
model.fit(X, y, epochs=2, batch_size=10)
