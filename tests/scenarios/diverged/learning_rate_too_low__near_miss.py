"""A model is trained and then tuned with a rate of 1e-5, as one does; it was good before and stays so.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(86)
rng = np.random.default_rng(86)
x = rng.normal(size=(1200, 8)).astype("float32")
y = (x[:, 0] + x[:, 1] > 0).astype("float32")

model = keras.Sequential(
    [keras.Input((8,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(1, activation="sigmoid")]
)
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=5, batch_size=32, verbose=2)
model.compile(optimizer=keras.optimizers.Adam(1e-5), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=3, batch_size=32, verbose=2)
