"""Revenues in euros, plain SGD with an ordinary rate, the loss is nan in the first epoch.

expect: unscaled-targets
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(102)
rng = np.random.default_rng(102)
shops = rng.normal(size=(960, 6)).astype("float32")
revenue = (2.5e6 + 8e5 * shops[:, 0] + 3e5 * shops[:, 1]).astype("float32")  # <- here

inputs = keras.Input((6,))
hidden = keras.layers.Dense(24, activation="selu")(inputs)
hidden = keras.layers.Dense(12, activation="selu")(hidden)
model = keras.Model(inputs, keras.layers.Dense(1)(hidden))
model.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse")
data = tf.data.Dataset.from_tensor_slices((shops, revenue)).shuffle(960, seed=1).batch(32)
model.fit(data, epochs=4, verbose=2)
