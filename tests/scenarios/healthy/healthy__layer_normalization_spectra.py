"""Spectra in raw counts up to a million, with a LayerNormalization in front of a residual net.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(47)
rng = np.random.default_rng(47)
wave = np.arange(50)
substance = rng.integers(0, 5, 1500)
brightness = rng.uniform(1e4, 1e6, (1500, 1))
lines = np.exp(-((wave - (6 + 9 * substance[:, None])) ** 2) / 8)
spectra = rng.poisson(brightness * (0.1 + 0.2 * lines + 0.05 * rng.random((1500, 50)))).astype("float32")

inputs = keras.Input((50,))
x = keras.layers.LayerNormalization(center=False, scale=False)(inputs)
x = keras.layers.Dense(32)(x)
for _ in range(3):
    x = x + keras.layers.Dense(32)(keras.layers.Dense(32, activation="relu")(keras.layers.LayerNormalization()(x)))
model = keras.Model(inputs, keras.layers.Dense(5, activation="softmax")(x))
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(spectra, substance, batch_size=50, epochs=4, verbose=2)
