"""The labels were made before some rows were thrown away: x and y differ in length.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
data = np.random.rand(120, 5).astype("float32")
labels = (data[:, 0] > 0.5).astype("int32")
data = data[data[:, 1] > 0.1]

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(data, labels, epochs=3, verbose=2)  # <- here
