"""Thirty layers deep with residual connections and normalization in each block.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(71)
x = np.random.normal(size=(2000, 10)).astype("float32")
y = (np.sin(x[:, 0]) * x[:, 1] + x[:, 2]).astype("float32")
inputs = keras.Input((10,))
h = keras.layers.Dense(32)(inputs)
for _ in range(15):
    inner = keras.layers.LayerNormalization()(h)
    inner = keras.layers.Dense(32, activation="relu")(inner)
    inner = keras.layers.Dense(32, kernel_initializer="zeros")(inner)
    h = keras.layers.Add()([h, inner])
model = keras.Model(inputs, keras.layers.Dense(1)(h))
model.compile("adam", "mse")
model.fit(x, y, batch_size=40, epochs=5, verbose=2)
