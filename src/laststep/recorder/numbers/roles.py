"""Which of a step's tensors are the inputs, the targets and the predictions: from the frames that compute the loss."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from laststep.recorder.source import used_in_tape

MOST_TENSORS = 12
TARGET = re.compile(r"(y|label|target|lbl|truth)")
MOST_FRAMES = 30
KERAS = ("keras.src.", "tf_keras.src.")
MOST_FRAMES_OUT = 60
OUTERMOST = "func_graph_from_py_func"  # below it one is outside the function that is being traced
# Operations that hand on what an activation gave.
PASSES_ON = {"Identity", "Reshape", "Squeeze", "ExpandDims", "Cast", "StopGradient", "IdentityN"}


def frames_of_step(frame: FrameType | None) -> Iterator[FrameType]:
    """From the taking of the gradient outwards, to where the traced function begins."""
    for _ in range(MOST_FRAMES):
        if frame is None or frame.f_code.co_name == OUTERMOST:
            return
        yield frame
        frame = frame.f_back


def traced_function(frame: FrameType | None) -> tuple[Any, bool]:
    """(the tf.function that is being traced, whether that was asked for by get_concrete_function)."""
    for _ in range(MOST_FRAMES_OUT):
        if frame is None:
            break
        held: Any = frame.f_locals.get("self")
        if type(held).__name__ == "Function" and hasattr(held, "_python_function"):
            if frame.f_code.co_name in ("__call__", "get_concrete_function"):
                return held, frame.f_code.co_name == "get_concrete_function"
        frame = frame.f_back
    return None, False


def is_of_keras(frame: FrameType | None) -> bool:
    """Whether what is traced is a function that Keras makes for its fit: no function of the program's calls it."""
    function, _ = traced_function(frame)
    module = getattr(getattr(function, "_python_function", None), "__module__", None)  # Keras wraps it: not its code
    return str(module).startswith(KERAS)


def tensors_of_step(frame: FrameType | None, graph: Any) -> dict[str, Any]:
    """By their role where Keras's own step (or one written like it) tells; else the arguments of the function."""
    for step in frames_of_step(frame):
        held = step.f_locals
        if step.f_code.co_name.removeprefix("tf__") == "train_step" and "x" in held and "y" in held:
            named = {role: held.get(role) for role in ("x", "y", "y_pred", "sample_weight")}
            found = _flat(named, graph)
            if found:
                return found
    if graph is None:
        return _arguments(frame, graph)
    captured = {id(tensor) for _, tensor in graph.captures}
    inputs = [tensor for tensor in graph.inputs if id(tensor) not in captured]
    return {tensor.op.name: tensor for tensor in inputs[:MOST_TENSORS] if _is_data(tensor)}


def guess_roles(found: dict[str, Any]) -> dict[str, Any]:
    """Arguments by their names; of two, the second is the target."""
    targets = [name for name in found if TARGET.match(name)]
    if not targets and len(found) == 2:
        targets = list(found)[1:]
    if len(targets) != 1:
        return found
    return {"y" if name in targets else f"x/{name}": tensor for name, tensor in found.items()}


def _arguments(frame: FrameType | None, graph: Any) -> dict[str, Any]:
    """An eager step: the arguments of the innermost function that was given any tensors, or what its tape is over."""
    for step in frames_of_step(frame):
        names = step.f_code.co_varnames[: step.f_code.co_argcount]
        found = _flat({name: step.f_locals.get(name) for name in names}, graph)
        if found:
            return found
        if step.f_code.co_name == "<module>":
            break
    if frame is None:
        return {}
    used = used_in_tape(frame.f_code.co_filename, frame.f_lineno)
    return _flat({name: frame.f_locals.get(name, frame.f_globals.get(name)) for name in used}, graph)


def _flat(named: dict[str, Any], graph: Any) -> dict[str, Any]:
    nest = sys.modules["tensorflow"].nest
    found: dict[str, Any] = {}
    for role, value in named.items():
        if not isinstance(value, (tuple, list, dict)) and not hasattr(value, "shape"):
            continue
        parts = nest.flatten(value)
        for at, part in enumerate(parts):
            if _is_data(part) and getattr(part, "graph", None) is graph and len(found) < MOST_TENSORS:
                found[role if len(parts) == 1 else f"{role}/{at}"] = part
    return found


def _is_data(tensor: Any) -> bool:
    kind = type(tensor).__name__
    if kind not in ("EagerTensor", "SymbolicTensor", "Tensor"):
        return False
    dtype = tensor.dtype
    return bool(dtype.is_floating or dtype.is_integer or dtype.is_bool)


def operation_of(tensor: Any) -> str:
    """What made a symbolic tensor: Softmax, Sigmoid, BiasAdd …; "" where that can't be told."""
    op = getattr(tensor, "op", None) if getattr(tensor, "graph", None) is not None else None
    while op is not None and op.type in PASSES_ON and op.inputs:
        op = op.inputs[0].op
    return str(op.type) if op is not None else ""


def as_given(tensor: Any) -> Any:
    """The step's own argument, before it was brought into shape."""
    while getattr(tensor, "graph", None) is not None and tensor.op.type in PASSES_ON and tensor.op.inputs:
        tensor = tensor.op.inputs[0]
    return tensor


def is_target(name: str, tensor: Any, target: Any) -> bool:
    """Whether this is what the target was made of; of eager tensors, which tell nothing, by its name and size."""
    if tensor is target or tensor is as_given(target):
        return True
    same = getattr(tensor, "graph", None) is None and bool(TARGET.match(name))
    return same and tensor.shape.num_elements() == target.shape.num_elements()


def describe_loss(name: str, from_logits: Any, y_true: Any, y_pred: Any) -> dict[str, Any]:
    return {
        "name": name,
        "from_logits": from_logits,
        "y_shape": _shape(y_true),
        "y_dtype": str(getattr(y_true.dtype, "name", y_true.dtype)),
        "y_pred_shape": _shape(y_pred),
        "y_pred_dtype": str(getattr(y_pred.dtype, "name", y_pred.dtype)),
        "made_by": operation_of(y_pred),
    }


def _shape(tensor: Any) -> list[int | None]:
    return [None if length is None else int(length) for length in tensor.shape]
