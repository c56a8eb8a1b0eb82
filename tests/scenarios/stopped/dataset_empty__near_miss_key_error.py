"""The same KeyError after a fit that had its data: the metric has another name.

expect: unhandled-exception
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(64, 4).astype("float32")
y = np.random.randint(0, 2, 64)
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
history = model.fit(x, y, epochs=2, verbose=2)
print("final accuracy:", history.history["acc"][-1])  # <- here
