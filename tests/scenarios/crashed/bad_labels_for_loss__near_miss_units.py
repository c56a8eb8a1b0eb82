"""Labels and loss are of the same kind; the last layer has a unit too few.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(64, 6).astype("float32")
y = keras.utils.to_categorical(np.arange(64) % 10)

model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(9, activation="softmax")])
model.compile(optimizer="adam", loss="categorical_crossentropy")
model.fit(x, y, epochs=2, verbose=2)  # <- here
