"""A boiler's sensors in their own units: pascals, degrees, and a strain gauge in millionths.

expect: unscaled-inputs
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(93)
rng = np.random.default_rng(93)


def windows(count):
    strain = rng.normal(size=(count, 16)) * 2e-6 + np.linspace(0, 4e-6, 16)
    pressure = 9.8e5 + 2e4 * rng.normal(size=(count, 16))
    steam = 450 + 10 * rng.normal(size=(count, 16))
    crack = (strain.mean(axis=1) > 2e-6).astype("float32")
    return np.stack([strain, pressure, steam], axis=-1).astype("float32"), crack


x, y = windows(800)  # <- here
model = keras.Sequential(
    [keras.Input((16, 3)), keras.layers.LSTM(16), keras.layers.Dense(1, activation="sigmoid")]
)
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, epochs=6, batch_size=32, validation_data=windows(200), verbose=2)
