"""The training that is timed: a small model whose step takes as long as asked, and the ways to run it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import keras
import numpy as np
import tensorflow as tf

# One thread each: what is compared is the cost of a step, not the luck of the scheduler with two shared cores.
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)

WIDTH = 192
MODES = ("fit", "fit-eager", "loop-function", "loop-eager")
SKIP = 3  # the first steps of a chunk start iterators and threads


class Work(keras.layers.Layer):
    """Multiplies its input `times` times by a rotation: time that depends on the data, and no gradient."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self._times = times
        rotation, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(WIDTH, WIDTH)))
        self._rotation = tf.constant(rotation, tf.float32)

    def call(self, inputs: Any) -> Any:
        turned = tf.stop_gradient(inputs)
        for _ in range(self._times):
            turned = tf.linalg.matmul(turned, self._rotation)
        return inputs + 0.001 * turned


def batch() -> tuple[Any, Any]:
    generator = np.random.default_rng(1)
    return (
        tf.constant(generator.normal(size=(WIDTH, WIDTH)), tf.float32),
        tf.constant(generator.normal(size=(WIDTH, 1)), tf.float32),
    )


class Stopwatch(keras.callbacks.Callback):
    """Last in the list: from one batch end to the next lies everything that a step costs."""

    async_safe = True

    def __init__(self) -> None:
        super().__init__()
        self.ends: list[float] = []
        self.cpu: list[float] = []

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.ends.append(time.perf_counter())
        if batch == SKIP:
            self.cpu.append(time.process_time())

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.cpu.append(time.process_time())


Chunk = Callable[[int], dict[str, float]]


def measured(ends: list[float], cpu: list[float]) -> dict[str, float]:
    times = np.diff(ends[SKIP:])
    return {
        "median": float(np.median(times)),
        "mean": float(np.mean(times)),
        "cpu": (cpu[1] - cpu[0]) / len(times),
    }


def make_chunk(mode: str, times: int, callbacks: Callable[[], list[Any]] = list) -> Chunk:
    """A function that trains n steps and gives the time of one."""
    model = _make_model(times)
    if mode.startswith("fit"):
        return _fit_chunk(model, mode == "fit-eager", callbacks)
    return _loop_chunk(model, mode == "loop-eager")


def _make_model(times: int) -> Any:
    inputs = keras.Input((WIDTH,))
    return keras.Model(inputs, keras.layers.Dense(1)(Work(times)(inputs)))


def _fit_chunk(model: Any, eager: bool, callbacks: Callable[[], list[Any]]) -> Chunk:
    model.compile(keras.optimizers.SGD(1e-4), "mse", run_eagerly=eager)
    data = tf.data.Dataset.from_tensors(batch()).repeat()

    def train(steps: int) -> dict[str, float]:
        watch = Stopwatch()
        model.fit(data, epochs=1, steps_per_epoch=steps, verbose=0, callbacks=[*callbacks(), watch])
        return measured(watch.ends, watch.cpu)

    return train


def _make_update(model: Any) -> Callable[[Any, Any], Any]:
    optimizer = keras.optimizers.SGD(1e-4)
    optimizer.build(model.trainable_variables)

    def update(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
        optimizer.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
        )
        return loss

    return update


def _loop_chunk(model: Any, eager: bool) -> Chunk:
    update, (x, y) = _make_update(model), batch()
    call = update if eager else tf.function(update)

    def train(steps: int) -> dict[str, float]:
        ends: list[float] = []
        cpu: list[float] = []
        for number in range(steps):
            call(x, y)
            ends.append(time.perf_counter())
            if number == SKIP:
                cpu.append(time.process_time())
        return measured(ends, [*cpu, time.process_time()])

    return train


class Until(keras.callbacks.Callback):
    """Ends the fit when it is time."""

    async_safe = True

    def __init__(self, ended: Callable[[], bool]) -> None:
        super().__init__()
        self.ended = ended

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self.ended():
            self.model.stop_training = True


def train_until(mode: str, times: int, ended: Callable[[], bool]) -> None:
    """One training from its first step on; `ended` is asked after each."""
    model = _make_model(times)
    if mode == "fit":
        model.compile(keras.optimizers.SGD(1e-4), "mse")
        data = tf.data.Dataset.from_tensors(batch()).repeat()
        model.fit(data, steps_per_epoch=10**7, verbose=0, callbacks=[Until(ended)])
        return
    step, (x, y) = tf.function(_make_update(model)), batch()
    while True:
        step(x, y)
        if ended():
            return


def calibrate(mode: str, milliseconds: float) -> int:
    """How many multiplications make a step of about this length."""
    few, many = 0, 64
    spent = []
    for times in (few, many):
        train = make_chunk(mode, times)
        train(10)
        spent.append(min(train(25)["median"] for _ in range(4)) * 1000)
    each = (spent[1] - spent[0]) / (many - few)
    return max(0, round((milliseconds - spent[0]) / each))
