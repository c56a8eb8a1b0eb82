"""The line that last set what fit was given, read from the program's own source."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from laststep.recorder.source import where_given

PROGRAM = """
x = "inputs"
y = "targets"
y = y + "!"  # <- y
{}
"""


class Model:
    def __init__(self) -> None:
        self.found: Any = None

    def fit(self, *args: Any, **kwargs: Any) -> None:
        self.found = where_given(sys._getframe(1), "fit", "y", 1)


class Data:
    """Whatever is called on it, it is itself."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: self


def line_found(tmp_path: Path, body: str) -> int | None:
    path, model = tmp_path / "train.py", Model()
    path.write_text(PROGRAM.format(body))
    names = {"model": model, "tf": Data(), **vars(ModuleType("__main__"))}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return model.found["line"] if model.found else None


@pytest.mark.parametrize(
    "body",
    [
        "model.fit(x, y)",
        "model.fit(x, y=y, epochs=3)",
        "data = tf.from_tensor_slices((x, y)).batch(3)\nmodel.fit(data)",
        "data = tf.from_tensor_slices((x, y))\ndata = data.shuffle(9)\ntrain = data.batch(2)\nmodel.fit(x=train)",
    ],
)
def test_the_line_of_the_targets(tmp_path: Path, body: str) -> None:
    assert line_found(tmp_path, body) == 4


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
