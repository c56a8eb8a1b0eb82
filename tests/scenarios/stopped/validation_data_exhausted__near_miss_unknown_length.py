"""Validation data of unknown length, no validation_steps: Keras warns at its end, and every round was whole.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
x = np.random.rand(200, 4).astype("float32")
y = x.sum(axis=1)
valid = tf.data.Dataset.from_tensor_slices((x, y)).filter(lambda a, b: a[0] > 0.8).batch(8)

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, epochs=3, validation_data=valid, verbose=2)
