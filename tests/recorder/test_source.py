"""The line that last set an argument of fit, read from the program's own source."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from laststep.recorder.source import (
    used_in_tape,
    where_argument_set,
    where_attribute_set,
    where_batches_come_from,
    where_dataset_source_set,
    where_gradient_cut,
)

PROGRAM = """
x = "inputs"
y = "targets"
y = y + "!"  # <- y
{}
"""


class Model:
    def __init__(self) -> None:
        self.given: Any = None
        self.sourced: Any = None
        self.set: Any = None
        self.cut: Any = None

    def fit(self, *args: Any, **kwargs: Any) -> None:
        frame = sys._getframe(1)
        self.given, self.sourced = where_argument_set(frame, "fit", "y", 1), where_dataset_source_set(frame, "fit", 1)
        here = {"file": frame.f_code.co_filename, "line": frame.f_lineno}
        self.set, self.cut = where_attribute_set(frame, "trainable"), where_gradient_cut(here)


class Data:
    """Every method returns the object itself."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: self


def line_found(tmp_path: Path, body: str, by: str = "given") -> int | None:
    path, model = tmp_path / "train.py", Model()
    path.write_text(PROGRAM.format(body))
    names = {"model": model, "tf": Data(), **vars(ModuleType("__main__"))}
    exec(compile(path.read_text(), str(path), "exec"), names)
    found = getattr(model, by)
    return found["line"] if found else None


@pytest.mark.parametrize(
    "body",
    [
        "model.fit(x, y)",
        "model.fit(x, y=y, epochs=3)",
        "model.fit(x[:2], y[:2])",
    ],
)
def test_the_line_of_the_targets(tmp_path: Path, body: str) -> None:
    assert line_found(tmp_path, body) == 4


@pytest.mark.parametrize(
    "body",
    [
        "data = tf.from_tensor_slices((x, y)).batch(3)\nmodel.fit(data)",
        "data = tf.from_tensor_slices((x, y))\ndata = data.shuffle(9)\ntrain = data.batch(2)\nmodel.fit(x=train)",
    ],
)
def test_the_line_of_the_targets_that_a_pipeline_was_made_of(tmp_path: Path, body: str) -> None:
    assert line_found(tmp_path, body, "sourced") == 4
    assert line_found(tmp_path, body) is None


@pytest.mark.parametrize(
    "body",
    [
        "data = tf.from_generator(x)\nmodel.fit(data)",
        "data = tf.from_tensor_slices(x)\nmodel.fit(data)",
        "model.fit(tf.from_tensor_slices((x, y)))",
        "data = tf\ndata = data.map(len)\nmodel.fit(data)",
    ],
)
def test_what_the_source_does_not_say_is_not_guessed(tmp_path: Path, body: str) -> None:
    assert line_found(tmp_path, body) is None
    assert line_found(tmp_path, body, "sourced") is None


@pytest.mark.parametrize(
    ("body", "by", "line"),
    [
        ("model.trainable = False\nmodel.fit(x, y)\nmodel.trainable = True", "set", 5),
        ("model.fit(x, y)", "set", None),
        ("def step():\n    a = tf.numpy(x)\n    model.fit(a, y)\ntf.numpy(y)\nstep()", "cut", 6),
        ("def f(): return tf.stop_gradient(x)\ndef step():\n    model.fit(f(), y)\nstep()", "cut", 5),
        ("a = tf.cast(x, 'int32')\nmodel.fit(a, y)", "cut", 5),
        ("a = tf.cast(x, 'float32')\nmodel.fit(a, y)", "cut", None),
        ("a, b = tf.round(x), y\nb = tf.floor(y)\nmodel.fit(a, b)", "cut", None),  # which of the two?
    ],
)
def test_what_freezes_and_what_lets_no_gradient_through(tmp_path: Path, body: str, by: str, line: int | None) -> None:
    assert line_found(tmp_path, body, by) == line


LOOPS = {
    "at the top": (
        "x = load()\nfor i in range(9):\n    xb, yb = cut(x[i]), cut(y[i])\n    with GradientTape():\n        use(xb)",
        {"xb": 1, "yb": None},
    ),
    "through a function": (
        "x, y = load()\n\ndef step(a, b):\n    return a - b\n\nfor i in range(3):\n    step(x[i], y[i])\n",
        {"a": 1, "b": 1},
    ),
    "over a dataset": ("data = make(load())\nfor i in range(3):\n    for a, b in data:\n        use(a, b)", {"a": 1}),
    "shuffled in place": ("y = load()\nrng.shuffle(y)\nfor b in y:\n    use(b)", {"b": 2}),
    "two callers": ("x = load()\ndef step(a):\n    use(a)\nstep(x)\nstep(x)", {"a": None}),
}


@pytest.mark.parametrize("name", LOOPS)
def test_where_the_data_of_a_loop_comes_from(tmp_path: Path, name: str) -> None:
    source, lines = LOOPS[name]
    path = tmp_path / "train.py"
    path.write_text(source)
    last = 4 if name == "through a function" else 3 if name == "two callers" else len(source.splitlines())
    found = {each: where_batches_come_from(str(path), last, each) for each in lines}
    assert {each: place and place["line"] for each, place in found.items()} == lines


def test_what_a_tape_is_over(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("with tf.GradientTape() as t:\n    p = model(xb)\n    loss = mean((p - yb) ** 2)\nt.gradient(loss)")
    assert [name for name in used_in_tape(str(path), 4) if name.endswith("b")] == ["xb", "yb"]
    assert used_in_tape(str(path), 4).count("p") == 0
