"""The model was built for 10 features and the array has 8.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)

X = np.random.rand(200, 8).astype("float32")
y = (X.sum(axis=1) > 4).astype("float32")

model = keras.Sequential([
    keras.Input(shape=(10,)),  # <- here
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(X, y, epochs=5, batch_size=20, verbose=2)
