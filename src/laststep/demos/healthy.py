"""Nothing is wrong, and laststep reports nothing."""

import keras
import numpy as np

rng = np.random.default_rng(2)
keras.utils.set_random_seed(2)
x = rng.normal(size=(4000, 20)).astype("float32")
y = (x[:, :3].sum(axis=1, keepdims=True) > 0).astype("float32")

model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=8, batch_size=32, verbose=2)
