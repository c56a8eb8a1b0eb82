"""Small, but not empty: one batch of three samples is left after the filter.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
x = np.linspace(0, 1, 50, dtype="float32").reshape(50, 1)
dataset = tf.data.Dataset.from_tensor_slices((x, 2 * x)).filter(lambda a, b: a[0] > 0.95).batch(64)

model = keras.Sequential([keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
history = model.fit(dataset, epochs=3, verbose=2)
print(len(history.history["loss"]), "epochs")
