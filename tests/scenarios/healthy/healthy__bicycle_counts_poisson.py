"""Bicycles per hour with the Poisson loss, which goes far below zero when the counts are high.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(14)
rng = np.random.default_rng(14)
hour = rng.uniform(0, 24, 4000)
rain = rng.integers(0, 2, 4000)
rate = np.exp(2.2 + 1.1 * np.sin((hour - 6) / 24 * 2 * np.pi) - 0.8 * rain)
count = rng.poisson(rate).astype("float32")
x = np.stack([np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi), rain], axis=1).astype("float32")

model = keras.Sequential(
    [keras.Input((3,)), keras.layers.Dense(24, activation="relu"), keras.layers.Dense(1, activation="exponential")]
)
model.compile(optimizer=keras.optimizers.RMSprop(2e-3), loss="poisson")
model.fit(x, count, batch_size=64, epochs=6, validation_split=0.2, verbose=2)
