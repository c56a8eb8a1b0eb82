"""One step, operation by operation: which one was the first to make a bad number out of good ones."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from laststep.recorder.frames import users_place

CALLBACKS = "tensorflow.python.framework.op_callbacks"
MOST_ORIGINS = 50
HANDED = ("ReadVariableOp", "Identity", "Const", "Fill")  # what is bad here was made elsewhere, or on purpose
EDGES = ("Log", "Log1p", "RealDiv", "Div", "Sqrt", "Rsqrt", "Reciprocal")  # break at 0
BACKWARD = "_gradient_function"  # of TensorFlow's tape: its frame names the operation whose gradient is taken
UPDATE = ("apply_gradients", "apply", "update_step")


class NonFiniteOrigin:
    """An operation with finite inputs and an output that is not: what, where, in which layer, for which samples."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.told = told


class Tracker:
    """Follows each bad number back to the operation that made it, while a step runs eagerly."""

    def __init__(self, rows: int) -> None:
        self._rows = rows  # how many samples the batch has
        self._bad: dict[int, tuple[Any, NonFiniteOrigin]] = {}  # the tensor too: its id is not free while it is held
        self._lines: dict[str, list[Any]] = {}  # by the kind of operation: where the program uses it
        self.origins: list[NonFiniteOrigin] = []
        self.edges: dict[tuple[str, str], dict[str, Any]] = {}
        self.operations = 0

    def __enter__(self) -> Tracker:
        sys.modules[CALLBACKS].add_op_callback(self.see)
        return self

    def __exit__(self, *error: Any) -> None:
        sys.modules[CALLBACKS].remove_op_callback(self.see)

    def see(self, kind: str, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        if graph is not None:
            return
        self.operations += 1
        frame = sys._getframe(1)
        where, backward = users_place(frame), _backward(frame)
        if backward is None and where is not None and where not in self._lines.setdefault(kind, []):
            self._lines[kind].append(where)
        if kind in EDGES and backward is None and where is not None and not _is_update(frame):
            self._look_at_edge(kind, inputs, where)
        bad = [output for output in outputs if _is_bad(output)] if kind not in HANDED else []
        if not bad:
            return
        known = [self._bad[id(value)][1] for value in inputs if id(value) in self._bad]
        if not known and any(_is_bad(value) for value in inputs):
            return  # bad from outside: the data, or weights
        origin = known[0] if known else self._new(kind, inputs, bad[0], frame, where, backward)
        for output in bad:
            self._bad[id(output)] = (output, origin)

    def _look_at_edge(self, kind: str, inputs: Any, where: Any) -> None:
        """How near the operation is to where it breaks: the smallest number that it takes a log or a root of."""
        value = inputs[-1] if kind in ("RealDiv", "Div") else inputs[0]
        if type(value).__name__ != "EagerTensor" or not value.dtype.is_floating:
            return
        numbers = value.numpy()
        if numbers.size:
            nearest = float(abs(numbers).min()) if kind in ("RealDiv", "Div") else float(numbers.min())
            known = self.edges.get((kind, str(where)))
            if known is None or nearest < known["nearest"]:
                self.edges[kind, str(where)] = {"operation": kind, "where": where, "nearest": nearest}

    def origin_of(self, tensors: Any) -> NonFiniteOrigin | None:
        return next((self._bad[id(tensor)][1] for tensor in tensors if id(tensor) in self._bad), None)

    def _new(
        self, kind: str, inputs: Any, output: Any, frame: FrameType, where: Any, backward: str | None
    ) -> NonFiniteOrigin:
        lines = self._lines.get(backward, []) if backward else []
        told = {
            "operation": kind,
            "gradient_of": backward,
            "phase": "gradients" if backward else "update" if _is_update(frame) else "forward",
            "where": lines[0] if len(lines) == 1 else where,
            "layer": _layer(frame),
            **_numbers(inputs, output, self._rows),
        }
        origin = NonFiniteOrigin(told)
        if len(self.origins) < MOST_ORIGINS:
            self.origins.append(origin)
        return origin


def _is_bad(value: Any) -> bool:
    if type(value).__name__ != "EagerTensor" or not value.dtype.is_floating:
        return False
    numpy = sys.modules["numpy"]
    return not bool(numpy.isfinite(value.numpy()).all())


def _backward(frame: FrameType | None) -> str | None:
    """The kind of operation whose gradient is being computed; None in the forward pass."""
    for _ in range(12):
        if frame is None:
            return None
        if frame.f_code.co_name == BACKWARD:
            return str(frame.f_locals.get("op_name"))
        frame = frame.f_back
    return None


def _is_update(frame: FrameType | None) -> bool:
    for _ in range(30):
        if frame is None:
            return False
        if frame.f_code.co_name in UPDATE and "optimizer" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def _layer(frame: FrameType | None) -> str | None:
    """The innermost layer or loss that was being called."""
    for _ in range(60):
        if frame is None:
            return None
        held: Any = frame.f_locals.get("self")
        if frame.f_code.co_name in ("call", "__call__") and hasattr(type(held), "get_config") and hasattr(held, "name"):
            return str(held.name)
        frame = frame.f_back
    return None


def _numbers(inputs: Any, output: Any, rows: int) -> dict[str, Any]:
    numpy = sys.modules["numpy"]
    value = output.numpy()
    places = numpy.argwhere(~numpy.isfinite(value))
    told: dict[str, Any] = {"nan": int(numpy.isnan(value).sum()), "inf": int(numpy.isinf(value).sum())}
    told |= {"of": int(value.size), "shape": list(value.shape)}
    if value.ndim and value.shape[0] == rows:
        told["samples"] = sorted({int(place[0]) for place in places})[:10]
    if value.ndim > 1:
        told["features"] = sorted({int(place[-1]) for place in places})[:10]
    given = []
    for tensor in inputs:
        if type(tensor).__name__ == "EagerTensor" and tensor.dtype.is_floating and len(places):
            held = tensor.numpy()
            at = tuple(places[0])
            told_value = held[at] if held.shape == value.shape else held.reshape(-1)[0] if held.size == 1 else None
            low, high = (float(held.min()), float(held.max())) if held.size else (0.0, 0.0)
            given.append({"low": low, "high": high, "there": None if told_value is None else float(told_value)})
    return told | {"inputs": given[:4]}
