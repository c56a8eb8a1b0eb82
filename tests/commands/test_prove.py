"""laststep prove: real programs trained with and without the remedy; proven, withdrawn, or honestly open."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

START = """
import os, numpy as np, keras
keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)
x = rng.normal(size=(960, 8)).astype("float32")
y = (x[:, 0] + x[:, 1] > 0).astype("int32")
best = keras.callbacks.ModelCheckpoint("best.keras")
"""
TOO_LOW = """
open("notes.txt", "a").write("started\\n")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(2, "softmax")])
model.compile(keras.optimizers.SGD(1e-8), "sparse_categorical_crossentropy", steps_per_execution=5)
model.fit(x, y, epochs=40, verbose=0, callbacks=[best])
print("after")
"""
NO_SIGNAL = """
x = rng.normal(size=(9600, 8)).astype("float32")
y = rng.permutation(np.tile(y, 10))
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(1, "sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x, y[:, None], epochs=5, verbose=0)
print("after")
"""
TWICE = """
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden, self.head = keras.layers.Dense(16, "relu"), keras.layers.Dense(1)
        self.out = keras.layers.Softmax()
    def call(self, x):
        return self.out(self.head(self.hidden(x)))
model = Net()
model.compile("adam", "binary_crossentropy")
model.fit(x, y[:, None].astype("float32"), epochs=30, verbose=0)
print("after")
"""
LOOP = """
import tensorflow as tf
w = tf.Variable(tf.zeros((8, 1)))
sgd = keras.optimizers.SGD(0.1)
@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.sqrt(tf.reduce_sum((x @ w) ** 2, axis=1)))
    sgd.apply_gradients([(tape.gradient(loss, w), w)])
    return loss
for _ in range(30):
    step(x, y)
"""
Proved = Callable[[str], dict[str, Any]]


@pytest.fixture
def proved(laststep: Any, here: Path) -> Proved:
    def call(code: str, later: str = "") -> dict[str, Any]:
        (here / "train.py").write_text(START + code)
        assert laststep("run", "--quiet", "python", "train.py").returncode == 0
        (here / "train.py").write_text(START + (later or code))
        before = files(here)
        result = laststep("prove", "--json", "--seconds", "12")
        assert "after" not in result.stdout, "nothing of the program runs after fit"
        assert files(here) == before, "no file of the user's is touched"
        assert result.stdout, result.stderr
        why = json.loads(laststep("why", "--json").stdout)
        return {"status": result.returncode, **json.loads(result.stdout), "why": why}

    return call


def files(folder: Path) -> dict[str, int]:
    found = [path for path in folder.rglob("*") if path.is_file() and ".laststep" not in path.parts]
    return {str(path): path.stat().st_mtime_ns for path in found}


@pytest.mark.slow
def test_a_remedy_that_helps_proves_the_finding_and_why_says_so(proved: Proved, laststep: Any) -> None:
    answer = proved(TOO_LOW)
    assert (answer["status"], answer["rule"], answer["verdict"]) == (0, "learning-rate-too-low", "PROVEN")
    before, after = answer["rounds"][0]
    assert after["skill"][-1][1] > before["skill"][-1][1] + 0.1
    assert after["losses"][-1] < before["losses"][-1]
    [first, *_] = answer["why"]["findings"]
    assert (first["rule"], first["confidence"]) == ("learning-rate-too-low", "PROVEN")
    page = laststep("why").stdout
    assert "PROVEN" in page
    assert "training works with the change" in " ".join(page.split())


@pytest.mark.slow
def test_a_remedy_that_does_not_help_withdraws_it(proved: Proved) -> None:
    """The program has become another one since: there the rate was not to blame. (A wrong finding is hard to make.)"""
    answer = proved(TOO_LOW, TOO_LOW.replace("model = keras", "y = rng.permutation(y)\nx = x * 0\nmodel = keras"))
    assert (answer["verdict"], answer["status"]) == ("WITHDRAWN", 0)
    assert "learning-rate-too-low" not in [finding["rule"] for finding in answer["why"]["findings"]]
    assert "learning-rate-too-low" in [item["rule"] for item in answer["why"]["ruled_out"]]


@pytest.mark.slow
def test_a_loss_that_falls_to_that_of_a_constant_prediction_proves_nothing(proved: Proved) -> None:
    """The labels no longer depend on the inputs: with a higher rate the model learns how frequent each class is."""
    rare = "y = (rng.random(960) < 0.05).astype('int32')\nx = x * 0\nmodel = keras"
    told = proved(TOO_LOW, TOO_LOW.replace("model = keras", rare, 1))
    before, after = told["rounds"][0]
    assert after["losses"][-1] < 0.5 * before["losses"][-1]
    assert told["verdict"] == "OPEN"
    assert "no better than a constant one" in told["because"]


@pytest.mark.slow
def test_labels_without_signal_are_told_from_a_model_that_can_not_learn(proved: Proved) -> None:
    answer = proved(NO_SIGNAL)
    assert (answer["rule"], answer["verdict"]) == ("no-signal", "PROVEN")
    assert answer["says"] == "Targets computed from the inputs instead of the given ones"


@pytest.mark.slow
def test_a_model_of_the_programs_own_class_with_a_softmax_of_its_own(proved: Proved) -> None:
    answer = proved(TWICE)
    assert (answer["rule"], answer["verdict"]) == ("output-loss-mismatch", "PROVEN")


@pytest.mark.slow
def test_a_loop_of_its_own_is_not_entered(proved: Proved) -> None:
    answer = proved(LOOP)
    assert (answer["verdict"], answer["status"]) == ("OPEN", 1)
    assert "loop of its own" in answer["because"]


def test_without_a_finding_there_is_nothing_to_prove(laststep: Any, one_line: Any) -> None:
    laststep("run", "--quiet", "python", "prog.py")
    assert "nothing to prove" in one_line(laststep("prove"))


def test_what_no_experiment_can_tell_is_said(laststep: Any, here: Path, one_line: Any) -> None:
    (here / "prog.py").write_text("raise FileNotFoundError(2, 'No such file or directory', 'data.csv')\n")
    laststep("run", "--quiet", "python", "prog.py")
    assert "can be tried automatically" in one_line(laststep("prove"))
