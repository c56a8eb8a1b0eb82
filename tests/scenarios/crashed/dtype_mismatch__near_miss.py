"""Bytes, whole numbers, truths and float64 all go into fit, and Keras casts them as it should.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
pixels = np.random.randint(0, 256, (64, 8, 8, 1), dtype="uint8")
flags = np.random.rand(64, 3) > 0.5
price = np.random.rand(64, 2)

image_in, flag_in, price_in = keras.Input((8, 8, 1)), keras.Input((3,)), keras.Input((2,))
image = keras.layers.Flatten()(keras.layers.Rescaling(1 / 255)(image_in))
merged = keras.layers.Concatenate()([image, flag_in, price_in])
model = keras.Model([image_in, flag_in, price_in], keras.layers.Dense(1)(keras.layers.Dense(8, activation="relu")(merged)))
model.compile(optimizer="adam", loss="mse")
model.fit([pixels, flags, price], price.sum(axis=1), epochs=3, verbose=2)
