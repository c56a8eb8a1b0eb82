"""Labels of -1 that are meant: ignore_class leaves them out of the loss.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(96, 6).astype("float32")
y = np.where(x.max(axis=1) > 0.9, x[:, :4].argmax(axis=1), -1)

model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(4, activation="softmax")])
model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(ignore_class=-1))
model.fit(x, y, epochs=3, verbose=2)
