"""Spectrograms in decibels from a generator; the recordings have stretches of digital silence.

expect: bad-input-values
exit: 0
outcome: finished
"""

import numpy as np
import tf_keras

tf_keras.utils.set_random_seed(8)
np.seterr(divide="ignore")


def clips(size=16):
    rng = np.random.default_rng(8)
    while True:
        speech = rng.integers(0, 2, size)
        power = rng.random((size, 20, 10)) ** 2
        power[:, :, 2:5] *= 1 + 4 * speech[:, None, None]
        if rng.random() < 0.2:
            power[0, 15:] = 0.0
        yield (10 * np.log10(power) / 20).astype("float32"), speech


model = tf_keras.Sequential(
    [
        tf_keras.layers.Input((20, 10)),
        tf_keras.layers.LSTM(16),
        tf_keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer=tf_keras.optimizers.Adam(0.005), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(clips(), steps_per_epoch=25, epochs=4, verbose=2)
