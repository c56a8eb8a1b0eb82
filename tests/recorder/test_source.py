"""The line that last set what fit was given, read from the program's own source."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from laststep.recorder.source import where_cut, where_given, where_set, where_sourced

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
        self.given, self.sourced = where_given(frame, "fit", "y", 1), where_sourced(frame, "fit", 1)
        here = {"file": frame.f_code.co_filename, "line": frame.f_lineno}
        self.set, self.cut = where_set(frame, "trainable"), where_cut(here)


class Data:
    """Whatever is called on it, it is itself."""

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
