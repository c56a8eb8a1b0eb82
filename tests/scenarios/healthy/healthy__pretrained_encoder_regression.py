"""An encoder learns to fill in missing pieces, then gets a head and predicts a quality.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(87)
rng = np.random.default_rng(87)
cause = rng.normal(size=(2400, 3))
process = np.tanh(cause @ rng.normal(size=(3, 20))).astype("float32")
holes = process * (rng.random(process.shape) > 0.3)
quality = (cause[:, 0] + 0.3 * cause[:, 1] ** 2).astype("float32")

encoder = keras.Sequential(
    [keras.Input((20,)), keras.layers.Dense(48, activation="relu"), keras.layers.Dense(16, activation="relu")]
)
repair = keras.Sequential([encoder, keras.layers.Dense(20)])
repair.compile("adam", "mse")
repair.fit(holes, process, batch_size=40, epochs=5, verbose=2)

inputs = keras.Input((20,))
model = keras.Model(inputs, keras.layers.Dense(1)(keras.layers.Dense(16, activation="relu")(encoder(inputs))))
model.compile("adam", "mae")
model.fit(process[:600], quality[:600], batch_size=20, epochs=8, verbose=2)
