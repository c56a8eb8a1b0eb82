"""Quick epochs, and a validation of 25 seconds in batches of half a second after every second one.

expect: healthy
exit: 0
outcome: finished
"""

import time

import keras
import numpy as np

keras.utils.set_random_seed(29)


def validation(size=16):
    rng = np.random.default_rng(1)
    while True:
        time.sleep(0.5)  # big images
        x = rng.random((size, 10), dtype="float32")
        yield x, x.sum(axis=1)


x = np.random.rand(4000, 10).astype("float32")
model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(
    x,
    x.sum(axis=1),
    batch_size=16,
    epochs=2,
    validation_data=validation(),
    validation_steps=48,
    validation_freq=2,
    verbose=2,
)
