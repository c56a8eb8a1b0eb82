"""A small step of six variables with and without the sentinel, alternating in short chunks: microseconds per step."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

from laststep.recorder.numbers.device_sentinel import insert_sentinel
from laststep.recorder.numbers.model_layers import variable_of
from laststep.recorder.numbers.sentinel import IDLE, TracedStep

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)

ARMS = {"bare": False, "control": False, "sentinel": True}
STEPS = 30


def make_step(watched: bool, xla: bool, alone: bool) -> Any:
    """A step that nobody asks anything of: as it is nearly always."""
    layers = [keras.layers.Dense(32, activation="relu"), keras.layers.Dense(32, activation="relu")]
    model = keras.Sequential([keras.Input((64,)), *layers, keras.layers.Dense(10)])
    weights, optimizer, inserted = model.trainable_variables, keras.optimizers.SGD(), []
    optimizer.build(weights)

    @tf.function(jit_compile=xla, autograph=False)
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            given = model(x, training=True)
            loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(y, given, from_logits=True))
        grads = tape.gradient(loss, weights)
        if watched:
            batch = {"x": x, "y": y, "y_pred": given}
            count = variable_of(optimizer.iterations)
            held = [variable_of(weight) for weight in weights]
            inserted.append(insert_sentinel(TracedStep(held, grads, loss, batch, count, False, alone)))
        optimizer.apply(grads, weights)
        return loss

    generator = np.random.default_rng(0)
    x, y = tf.constant(generator.random((16, 64), "float32")), tf.constant(generator.integers(0, 10, 16))
    step(x, y)
    for sentinel in inserted:
        sentinel.gate.host_write(IDLE)
    return lambda: step(x, y)


def clock(step: Any) -> float:
    step()
    began = time.process_time()
    for _ in range(STEPS):
        step()
    return (time.process_time() - began) / STEPS * 1e6


def main(xla: bool, alone: bool, builds: int, rounds: int) -> dict[str, list[float]]:
    """For each build of all arms, the fastest chunk of each: what others do on the machine only adds."""
    found: dict[str, list[float]] = {arm: [] for arm in ARMS}
    for _ in range(builds):
        steps = {arm: make_step(ARMS[arm], xla, alone) for arm in random.sample(list(ARMS), len(ARMS))}
        times: dict[str, list[float]] = {arm: [] for arm in ARMS}
        for _ in range(rounds):
            for arm in random.sample(list(ARMS), len(ARMS)):
                times[arm].append(clock(steps[arm]))
        for arm, values in times.items():
            found[arm].append(min(values))
    return found


if __name__ == "__main__":
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    kind, builds, rounds = sys.argv[1:]
    sys.stdout.write("\n" + json.dumps(main(kind == "xla", kind == "fit", int(builds), int(rounds))) + "\n")
