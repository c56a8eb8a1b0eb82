"""Wind speed of the next hour from the last twelve, with a GRU; it always forecasts a light breeze.

expect: output-loss-mismatch
exit: 0
outcome: finished
"""

import numpy as np
import tensorflow as tf
import tf_keras
from tf_keras import layers

tf_keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)
hours = np.arange(1300)
wind = 7 + 3 * np.sin(hours * 2 * np.pi / 24) + np.convolve(rng.normal(0, 1, 1300), np.ones(4) / 4, "same")

past = np.lib.stride_tricks.sliding_window_view(wind[:-1], 12)[..., None] / 10.0
following = wind[12:]
data = tf.data.Dataset.from_tensor_slices((past.astype("float32"), following.astype("float32")))
train, test = data.take(1000).shuffle(1000, seed=4).batch(25), data.skip(1000).batch(100)

model = tf_keras.Sequential([
    layers.GRU(24, input_shape=(12, 1)),
    layers.Dense(16, activation="tanh"),
    layers.Dense(1, activation="tanh"),  # <- here
])
model.compile(optimizer=tf_keras.optimizers.Adam(0.01), loss="mae")
log = model.fit(train, epochs=8, validation_data=test, verbose=0)
print("mae m/s  ", [round(v, 2) for v in log.history["loss"]])
print("held back", [round(v, 2) for v in log.history["val_loss"]])
