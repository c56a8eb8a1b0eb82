"""laststep replay: the bad step again, in real programs; the operation, the line and the sample that did it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from laststep.record.events.numbers import BadNumber
from laststep.record.run import Run

START = """
import numpy as np
import tensorflow as tf
import keras
keras.utils.set_random_seed(1)
x = np.random.default_rng(3).random((320, 8), dtype="float32")
y = (x.sum(axis=1, keepdims=True) > 4).astype("float32")
"""
LAYER = """
x[230] = 0
class Ratio(keras.layers.Layer):
    def call(self, x):
        return x / tf.reduce_sum(x, axis=1, keepdims=True)  # <- here
model = keras.Sequential([Ratio(name="my_ratio"), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", jit_compile=JIT)
model.fit(x, y, shuffle=False, verbose=0)
print("after")
"""
LOOP = """
model = keras.Sequential([keras.layers.Dense(1)])
adam = keras.optimizers.Adam()
@tf.function
def step(batch, labels):
    with tf.GradientTape() as tape:
        far = tf.sqrt(tf.reduce_sum((model(batch) - labels) ** 2, axis=1) * 0.0)  # <- here
        loss = tf.reduce_mean(far)
    grads = tape.gradient(loss, model.trainable_variables)
    adam.apply_gradients(zip(grads, model.trainable_variables))
    return loss
for batch, labels in tf.data.Dataset.from_tensor_slices((x, y)).batch(32):
    step(batch, labels)
"""
DATA = """
x[230, 3] = np.nan
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x, y, shuffle=False, verbose=0)
"""
Replayed = Callable[[str], dict[str, Any]]


@pytest.fixture
def replayed(laststep: Any, here: Path) -> Replayed:
    def call(code: str) -> dict[str, Any]:
        (here / "train.py").write_text(START + code)
        assert laststep("run", "--quiet", "python", "train.py").returncode == 0
        result = laststep("replay", "--json")
        assert "after" not in result.stdout, "nothing of the program runs after the step"
        return {"status": result.returncode, **json.loads(result.stdout), "page": laststep("replay").stdout}

    return call


def line_of(code: str) -> int:
    return next(n for n, line in enumerate((START + code).splitlines(), 1) if line.endswith("# <- here"))


@pytest.mark.slow
@pytest.mark.parametrize("jit", [False, True])
def test_a_layer_that_divides_by_zero(replayed: Replayed, jit: bool) -> None:
    code = LAYER.replace("JIT", str(jit))
    answer = replayed(code)
    origin = answer["replayed"]["origin"]
    assert (answer["status"], origin["operation"], origin["layer"]) == (0, "RealDiv", "my_ratio")
    assert (origin["where"]["line"], origin["samples"]) == (line_of(code), [6])
    assert "RealDiv in my_ratio produced 8 NaN" in answer["page"]
    assert "sample 6 of the 32 in the batch" in answer["page"]


@pytest.mark.slow
def test_the_gradient_of_a_root_at_zero_in_a_loop_of_its_own(replayed: Replayed) -> None:
    origin = replayed(LOOP)["replayed"]["origin"]
    assert (origin["gradient_of"], origin["phase"], origin["where"]["line"]) == ("Sqrt", "gradients", line_of(LOOP))


@pytest.mark.slow
def test_what_came_in_the_data_is_said_before_the_model(replayed: Replayed) -> None:
    answer = replayed(DATA)
    assert answer["replayed"]["inputs"]["x"]["samples"] == [6]
    assert answer["replayed"]["origin"] is None
    assert "x contains 1 NaN" in answer["page"]


def test_a_run_without_a_bad_step_has_nothing_to_replay(laststep: Any, one_line: Any) -> None:
    laststep("run", "--quiet", "python", "prog.py")
    assert "has no step with a NaN or Inf" in one_line(laststep("replay"))


LARGE = """
x = np.ones((12, 1_100_000), "float32")  # a batch of 5 takes 22 MB, and the last one is smaller
x[7, 3] = np.nan
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, np.ones(12), batch_size=5, shuffle=False, verbose=0)
"""


@pytest.mark.slow
def test_a_large_batch_is_kept_where_that_is_wanted(laststep: Any, here: Path, runs_in: Any) -> None:
    """Also where the batch dimension is open, as it is where the last batch is smaller."""
    (here / "train.py").write_text(START + LARGE)
    assert laststep("run", "--quiet", "--keep-last-batch", "64 MB", "python", "train.py").returncode == 0
    [folder] = runs_in()
    [bad] = Run.load(folder).all(BadNumber)
    assert (bad.step, bad.inputs["x"].samples, bad.kept) == (2, (2,), True)
    assert (folder / "kept.npz").stat().st_size > 22_000_000
