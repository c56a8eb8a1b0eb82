"""Run a step operation by operation: which one is the first to make a non-finite number from finite inputs?"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from laststep.recorder.frames import users_place

CALLBACKS_MODULE = "tensorflow.python.framework.op_callbacks"
MAX_ORIGINS = 50
PASS_THROUGH_OPS = ("ReadVariableOp", "Identity", "Const", "Fill")  # made elsewhere, or non-finite on purpose
EDGE_OPS = ("Log", "Log1p", "RealDiv", "Div", "Sqrt", "Rsqrt", "Reciprocal")  # undefined or infinite at 0
GRADIENT_FUNCTION = "_gradient_function"  # of TensorFlow's tape: its frame names the operation that is differentiated
UPDATE_FUNCTIONS = ("apply_gradients", "apply", "update_step")


class NonFiniteOrigin:
    """An operation with finite inputs and a non-finite output: what, where, in which layer, for which samples."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields


class Tracker:
    """Traces each non-finite number back to the operation that made it, while a step runs eagerly."""

    def __init__(self, rows: int) -> None:
        self._rows = rows  # samples in the batch
        # The tensor is kept as well, so that its id is not reused.
        self._bad: dict[int, tuple[Any, NonFiniteOrigin]] = {}
        self._lines: dict[str, list[Any]] = {}  # by type of operation: the program's lines that use it
        self.origins: list[NonFiniteOrigin] = []
        self.edges: dict[tuple[str, str], dict[str, Any]] = {}
        self.operations = 0

    def __enter__(self) -> Tracker:
        sys.modules[CALLBACKS_MODULE].add_op_callback(self.on_operation)
        return self

    def __exit__(self, *error: Any) -> None:
        sys.modules[CALLBACKS_MODULE].remove_op_callback(self.on_operation)

    def on_operation(
        self, kind: str, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> None:
        if graph is not None:
            return
        self.operations += 1
        frame = sys._getframe(1)
        where, gradient_of = users_place(frame), _differentiated_operation(frame)
        if gradient_of is None and where is not None and where not in self._lines.setdefault(kind, []):
            self._lines[kind].append(where)
        if kind in EDGE_OPS and gradient_of is None and where is not None and not _is_update(frame):
            self._note_edge(kind, inputs, where)
        bad = [output for output in outputs if _is_bad(output)] if kind not in PASS_THROUGH_OPS else []
        if not bad:
            return
        known = [self._bad[id(value)][1] for value in inputs if id(value) in self._bad]
        if not known and any(_is_bad(value) for value in inputs):
            return  # bad from outside: the data or the weights
        origin = known[0] if known else self._add_origin(kind, inputs, bad[0], frame, where, gradient_of)
        for output in bad:
            self._bad[id(output)] = (output, origin)

    def _note_edge(self, kind: str, inputs: Any, where: Any) -> None:
        """How close an operand is to where the operation breaks: the smallest argument of a log, root or division."""
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

    def _add_origin(
        self, kind: str, inputs: Any, output: Any, frame: FrameType, where: Any, gradient_of: str | None
    ) -> NonFiniteOrigin:
        lines = self._lines.get(gradient_of, []) if gradient_of else []
        fields = {
            "operation": kind,
            "gradient_of": gradient_of,
            "phase": "gradients" if gradient_of else "update" if _is_update(frame) else "forward",
            "where": lines[0] if len(lines) == 1 else where,
            "layer": _layer(frame),
            **_numbers(inputs, output, self._rows),
        }
        origin = NonFiniteOrigin(fields)
        if len(self.origins) < MAX_ORIGINS:
            self.origins.append(origin)
        return origin


def _is_bad(value: Any) -> bool:
    if type(value).__name__ != "EagerTensor" or not value.dtype.is_floating:
        return False
    numpy = sys.modules["numpy"]
    return not bool(numpy.isfinite(value.numpy()).all())


def _differentiated_operation(frame: FrameType | None) -> str | None:
    """The type of the operation whose gradient is being computed; None in the forward pass."""
    for _ in range(12):
        if frame is None:
            return None
        if frame.f_code.co_name == GRADIENT_FUNCTION:
            return str(frame.f_locals.get("op_name"))
        frame = frame.f_back
    return None


def _is_update(frame: FrameType | None) -> bool:
    for _ in range(30):
        if frame is None:
            return False
        if frame.f_code.co_name in UPDATE_FUNCTIONS and "optimizer" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def _layer(frame: FrameType | None) -> str | None:
    """The innermost layer or loss that was being called."""
    for _ in range(60):
        if frame is None:
            return None
        layer: Any = frame.f_locals.get("self")
        if (
            frame.f_code.co_name in ("call", "__call__")
            and hasattr(type(layer), "get_config")
            and hasattr(layer, "name")
        ):
            return str(layer.name)
        frame = frame.f_back
    return None


def _numbers(inputs: Any, output: Any, rows: int) -> dict[str, Any]:
    numpy = sys.modules["numpy"]
    value = output.numpy()
    places = numpy.argwhere(~numpy.isfinite(value))
    fields: dict[str, Any] = {"nan": int(numpy.isnan(value).sum()), "inf": int(numpy.isinf(value).sum())}
    fields |= {"of": int(value.size), "shape": list(value.shape)}
    if value.ndim and value.shape[0] == rows:
        fields["samples"] = sorted({int(place[0]) for place in places})[:10]
    if value.ndim > 1:
        fields["features"] = sorted({int(place[-1]) for place in places})[:10]
    input_ranges = []
    for tensor in inputs:
        if type(tensor).__name__ == "EagerTensor" and tensor.dtype.is_floating and len(places):
            array = tensor.numpy()
            at = tuple(places[0])
            value_there = array[at] if array.shape == value.shape else array.reshape(-1)[0] if array.size == 1 else None
            low, high = (float(array.min()), float(array.max())) if array.size else (0.0, 0.0)
            input_ranges.append(
                {"low": low, "high": high, "there": None if value_there is None else float(value_there)}
            )
    return fields | {"inputs": input_ranges[:4]}
