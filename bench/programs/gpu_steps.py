"""The time of a step in microseconds, of each kind that is asked for: gpu_steps.py small|large KIND …, on one GPU."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf

BATCH, FEATURES = 64, 256
SMALL, LARGE = (2, 64), (10, 8192)  # layers, units
SMOKE = "smoke"  # a size to try the program itself with, anywhere
WARM_UP, SECONDS = 200, 1.5


class Clock:
    """Times steps after the warm-up, until the seconds are over."""

    def __init__(self, warm_up: int) -> None:
        self.warm_up, self.steps, self.began, self.ended = warm_up, 0, 0.0, 0.0

    def step(self) -> bool:
        """Whether there should be another one."""
        self.steps += 1
        self.ended = time.perf_counter()
        if self.steps == self.warm_up:
            self.began = self.ended
        return self.steps <= self.warm_up or self.ended - self.began < SECONDS

    def microseconds(self) -> float:
        return (self.ended - self.began) / (self.steps - self.warm_up) * 1e6


class Stopwatch(keras.callbacks.Callback):
    """Last in the list; says that it needs no values, so Keras fetches none for it."""

    async_safe = True

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if not self.clock.step():
            self.model.stop_training = True


def make_model(size: str, embedding: bool = False) -> Any:
    layers, units = LARGE if size == "large" else SMALL
    first = [keras.Input((32,)), keras.layers.Embedding(20_000, 64), keras.layers.GlobalAveragePooling1D()]
    dense = [keras.layers.Dense(units, activation="relu") for _ in range(layers)]
    return keras.Sequential([*(first if embedding else [keras.Input((FEATURES,))]), *dense, keras.layers.Dense(1)])


def make_data(embedding: bool = False) -> Any:
    generator = np.random.default_rng(0)
    x = generator.integers(0, 20_000, (BATCH * 50, 32)) if embedding else generator.random((BATCH * 50, FEATURES), "f")
    y = generator.random((BATCH * 50, 1), "f")
    return tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH, drop_remainder=True).cache().repeat()


def fit(size: str, clock: Clock, embedding: bool = False, fetched: bool = False, **settings: Any) -> None:
    model, data = make_model(size, embedding), make_data(embedding)
    model.compile("adam", "mse", **settings)
    device = tf.config.list_logical_devices()[-1].name
    data = data.apply(tf.data.experimental.prefetch_to_device(device)) if fetched else data.prefetch(4)
    model.fit(data, steps_per_epoch=10**6, verbose=0, callbacks=[Stopwatch(clock)])


def mixed(size: str, clock: Clock) -> None:
    keras.config.set_dtype_policy("mixed_float16")
    try:
        fit(size, clock)
    finally:
        keras.config.set_dtype_policy("float32")


def loop(size: str, clock: Clock, wrap: Callable[[Any], Any]) -> None:
    model, optimizer = make_model(size), keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)

    def update(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    step = wrap(update)
    for x, y in make_data().prefetch(4):
        step(x, y)
        if not clock.step():
            break


KINDS: dict[str, Callable[[str, Clock], None]] = {
    "fit": fit,
    "fit jit": lambda size, clock: fit(size, clock, jit_compile=True),
    "fit mixed_float16": mixed,
    "fit steps_per_execution=4": lambda size, clock: fit(size, clock, steps_per_execution=4),
    "fit Embedding": lambda size, clock: fit(size, clock, embedding=True),
    "fit prefetch_to_device": lambda size, clock: fit(size, clock, fetched=True),
    "tf.function loop": lambda size, clock: loop(size, clock, tf.function),
    "eager loop": lambda size, clock: loop(size, clock, lambda update: update),
}

if __name__ == "__main__":
    size, *kinds = sys.argv[1:]
    found = {}
    for kind in kinds:
        # With steps_per_execution a call of the callback is four steps: the ratio is the same.
        clock = Clock(20 if size == SMOKE else WARM_UP)
        KINDS[kind](size, clock)
        found[kind] = clock.microseconds()
    gpus = tf.config.list_physical_devices("GPU")
    cards = [tf.config.experimental.get_device_details(gpu).get("device_name", "a GPU") for gpu in gpus]
    sys.stdout.write("\n" + json.dumps({"steps": found, "cards": cards, "tensorflow": tf.__version__}) + "\n")
