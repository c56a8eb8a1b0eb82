"""Cells under a microscope, pixel by pixel: nine of ten pixels are background.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(77)
rng = np.random.default_rng(77)
grid = np.arange(24)
row, column, radius = rng.uniform(5, 19, (200, 1, 1)), rng.uniform(5, 19, (200, 1, 1)), rng.uniform(2.5, 5, (200, 1, 1))
distance = np.sqrt((grid[None, :, None] - row) ** 2 + (grid[None, None, :] - column) ** 2)
mask = (distance < radius).astype("int32") + (distance < radius / 2)
images = (0.4 * mask + 0.15 * rng.normal(size=mask.shape)).astype("float32")[..., None]
print("background", round(float((mask == 0).mean()), 1))

inputs = keras.Input((24, 24, 1))
down = keras.layers.Conv2D(8, 3, padding="same", activation="relu")(inputs)
deep = keras.layers.Conv2D(16, 3, padding="same", activation="relu")(keras.layers.MaxPooling2D()(down))
up = keras.layers.Concatenate()([keras.layers.UpSampling2D()(deep), down])
outputs = keras.layers.Conv2D(3, 1, activation="softmax")(up)
model = keras.Model(inputs, outputs)
model.compile(keras.optimizers.Adam(1e-2), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(images, mask, batch_size=10, epochs=6, verbose=2)
