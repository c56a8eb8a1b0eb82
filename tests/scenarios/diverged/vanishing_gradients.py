"""Twelve layers of sigmoids on a small table: the accuracy stays where guessing is.

expect: vanishing-gradients
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)
x = rng.normal(size=(1600, 12)).astype("float32")
y = (x[:, :4].sum(axis=1) > 0).astype("float32")

model = keras.Sequential([keras.Input((12,))])
for _ in range(12):
    model.add(keras.layers.Dense(32, activation="sigmoid"))  # <- here
model.add(keras.layers.Dense(1, activation="sigmoid"))
model.compile(optimizer=keras.optimizers.SGD(0.1), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=8, batch_size=32, validation_split=0.2, verbose=2)
