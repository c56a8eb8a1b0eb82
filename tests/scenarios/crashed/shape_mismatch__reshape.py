"""A Reshape layer that does not fit what comes into it.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import keras
from keras import layers

latent_dim = 32

generator = keras.Sequential(name="generator")
generator.add(keras.Input((latent_dim,)))
generator.add(layers.Dense(7 * 7 * 64, activation="relu"))
generator.add(layers.Reshape((7, 7, 128)))  # <- here
generator.add(layers.Conv2DTranspose(32, 4, strides=2, padding="same", activation="relu"))
generator.add(layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="sigmoid"))
generator.summary()
