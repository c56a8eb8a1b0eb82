"""A script for Keras 2, run with Keras 3: the optimizer does not know `lr` and `decay` any more.

expect: library-incompatible
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(64, 4).astype("float32")
y = np.random.randint(0, 2, 64)

model = keras.models.Sequential()
model.add(keras.layers.Dense(16, activation="relu"))
model.add(keras.layers.Dense(1, activation="sigmoid"))
optimizer = keras.optimizers.Adam(lr=0.001, decay=1e-6)  # <- here
model.compile(loss="binary_crossentropy", optimizer=optimizer, metrics=["accuracy"])
model.fit(x, y, batch_size=16, epochs=3, verbose=2)
