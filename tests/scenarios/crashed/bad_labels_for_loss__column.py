"""Class numbers in a column of shape (n, 1), and categorical_crossentropy over three units.

expect: bad-labels-for-loss
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
iris = np.random.rand(150, 5).astype("float32")
iris[:, 4] = np.repeat([0, 1, 2], 50)
X, Y = iris[:, 0:4], iris[:, 4:5]

model = keras.Sequential()
model.add(keras.layers.Dense(8, activation="relu"))
model.add(keras.layers.Dense(3, activation="softmax"))
model.compile(loss="categorical_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(X, Y, epochs=20, batch_size=5, verbose=2)  # <- here
