"""The layers around an error, with classes that look like those of Keras: which, in which order, of which call."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from laststep.recorder.frames import is_users
from laststep.recorder.network import describe_network, remember_call

PROGRAM = """
class Net(Model):
    def __init__(self):
        self.second = LSTM("lstm_1")
        self.first = LSTM("lstm")
        self.out = LSTM("dense")

    def call(self, x):
        x = self.first(x)
        x = self.second(x)
        return self.out(x)


net = Net()
net.fit(data, [1, 2])
"""
MESSAGE = "Input 0 of layer 'lstm_1' is incompatible with the layer: expected ndim=3, found ndim=2"


class Tensor:
    def __init__(self, *shape: int | None) -> None:
        self.shape = shape
        self.dtype = "float32"


class Layer:
    name = ""
    weights: tuple[Any, ...] = ()

    def __init__(self, name: str) -> None:
        self.name = name
        remember_call(self, sys._getframe(1))

    def __call__(self, *args: Any) -> Any:
        if self.name == "lstm_1":
            raise ValueError(MESSAGE)
        return Tensor(None, 16)


Layer.__module__ = "keras.src.layers.layer"


class Model(Layer):
    name = "net"

    def train_step(self) -> None: ...

    @property
    def layers(self) -> list[Layer]:
        return [value for value in vars(self).values() if isinstance(value, Layer)]

    def fit(self, x: Any, y: Any) -> None:
        self.call(x)  # type: ignore[attr-defined]


def frames_of(error: BaseException) -> Iterator[FrameType]:
    traceback = error.__traceback__
    while traceback is not None:
        yield traceback.tb_frame
        traceback = traceback.tb_next


@pytest.fixture
def described(tmp_path: Path) -> dict[str, Any]:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    names = {"Model": Model, "LSTM": Layer, "data": Tensor(64, 12, 4), "__name__": "__main__"}
    assert is_users(str(path))
    with pytest.raises(ValueError, match="lstm_1") as raised:
        exec(compile(PROGRAM, str(path), "exec"), names)
    found = describe_network(MESSAGE, frames_of(raised.value))
    assert found is not None
    return found


def test_the_layers_come_in_the_order_in_which_the_source_applies_them(described: dict[str, Any]) -> None:
    assert (described["model"], described["failed"]) == ("Net", "lstm_1")
    assert [layer["name"] for layer in described["layers"]] == ["lstm", "lstm_1"], "not as they were made"
    assert described["layers"][-1]["given"] == [None, 16]
    assert [layer["made"]["use"]["line"] for layer in described["layers"]] == [9, 10]


def test_the_arrays_that_fit_was_given_are_told_by_their_shapes(described: dict[str, Any]) -> None:
    assert described["x_shape"] == [64, 12, 4]
    assert "y_shape" not in described


def test_an_error_about_something_else_is_left_alone() -> None:
    assert describe_network("division by zero", [sys._getframe()]) is None
