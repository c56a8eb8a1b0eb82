"""A boolean mask leaves no row of the array.

expect: dataset-empty
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)
ages = rng.integers(18, 90, 300)
X = np.column_stack([ages, rng.random(300), rng.random(300)]).astype("float32")
y = (ages > 50).astype("float32")

mask = (X[:, 0] > 90) | (X[:, 0] < 18)
X_train, y_train = X[mask], y[mask]  # <- here
print("training on", X_train.shape)

model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="rmsprop", loss="binary_crossentropy")
model.fit(X_train, y_train, batch_size=32, epochs=4, verbose=2)
