"""One batch has another shape: an uncaught error."""

import keras
import numpy as np


def read_batches(rows, size):
    """Most of the recordings have 24 channels. The last ones were made with the old device."""
    rng = np.random.default_rng(5)
    for start in range(0, rows, size):
        channels = 24 if start < rows * 0.9 else 16
        x = rng.normal(size=(size, channels)).astype("float32")
        yield x, (x[:, :4].sum(axis=1, keepdims=True) > 0).astype("float32")


model = keras.Sequential(
    [
        keras.Input((24,)),
        keras.layers.Dense(48, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(read_batches(rows=32000, size=64), epochs=1, shuffle=False, verbose=2)
