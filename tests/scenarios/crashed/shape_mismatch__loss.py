"""The network gives two coordinates and the targets have three.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
poses = np.random.rand(96, 12).astype("float32")
positions = np.random.rand(96, 3).astype("float32")

inputs = keras.Input((12,))
x = keras.layers.Dense(24, activation="relu")(inputs)
outputs = keras.layers.Dense(2)(x)  # <- here
model = keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="mean_squared_error")
model.fit(poses, positions, epochs=2, verbose=2)
