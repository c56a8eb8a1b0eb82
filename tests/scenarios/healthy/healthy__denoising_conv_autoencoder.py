"""Cleaning scans: noisy pictures in, clean pictures out, a sigmoid per pixel with crossentropy that stays above 0.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)
grid = np.arange(16)
row, column = rng.uniform(4, 12, (2, 800, 1, 1))
clean = np.exp(-((grid[None, :, None] - row) ** 2 + (grid[None, None, :] - column) ** 2) / 6)[..., None].astype(
    "float32"
)
noisy = np.clip(clean + 0.3 * rng.normal(size=clean.shape), 0, 1).astype("float32")

layers = keras.layers
model = keras.Sequential(
    [
        keras.Input((16, 16, 1)),
        layers.Conv2D(8, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2DTranspose(8, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2D(1, 3, padding="same", activation="sigmoid"),
    ]
)
model.compile(keras.optimizers.Adam(4e-3), "binary_crossentropy")
model.fit(noisy, clean, batch_size=20, epochs=4, verbose=2)
