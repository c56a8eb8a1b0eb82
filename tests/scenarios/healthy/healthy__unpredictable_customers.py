"""Will the customer come back: nobody can tell better than seven times out of ten.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(56)
rng = np.random.default_rng(56)
visits = rng.normal(size=(5000, 8)).astype("float32")
likely = visits[:, 0] + visits[:, 1] > 0
returns = np.where(rng.random(5000) < 0.7, likely, ~likely).astype("float32")
model = keras.Sequential(
    [keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="sigmoid")]
)
model.compile(keras.optimizers.Adam(5e-3), "binary_crossentropy", metrics=["accuracy"])
model.fit(
    visits[:4000], returns[:4000], batch_size=64, epochs=8, validation_data=(visits[4000:], returns[4000:]), verbose=2
)
