"""A Keras fit that keeps memory in a certain way until its limit kills it, or for some epochs: leak_fit.py SHAPE MB."""

from __future__ import annotations

import sys
import time

import keras
import numpy as np
import tensorflow as tf

STEPS = 40
shape, size = sys.argv[1], float(sys.argv[2])


def piece(megabytes: float) -> np.ndarray:
    return np.full(max(1, int(megabytes * 1e6 / 8)), 1.0)


class Keep(keras.callbacks.Callback):
    """By step or by epoch; a validation that takes much for a moment; or nothing for good."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[np.ndarray] = []

    def on_train_batch_end(self, batch: int, logs: object = None) -> None:
        if shape in ("steps", "validation", "cached"):
            self.kept.append(piece(size))
        time.sleep(0.04)

    def on_epoch_end(self, epoch: int, logs: object = None) -> None:
        if shape == "epochs":
            self.kept.append(piece(size * STEPS))
        if shape in ("validation", "healthy validation"):
            held = piece(size * 60)
            time.sleep(0.7)
            del held


def data() -> tf.data.Dataset:
    wide = 300_000 if "cached" in shape else 8
    made = tf.data.Dataset.range(STEPS * 4).map(lambda i: (tf.random.stateless_uniform((wide,), seed=(i, 1)), 1.0))
    return (made.cache() if "cached" in shape else made).map(lambda x, y: (x[:8], y)).batch(4)


model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(data(), epochs=30 if "healthy" in shape else 10_000, verbose=0, callbacks=[Keep()])
