"""Which tensors of a step are the inputs, targets and predictions: from the frames that compute the loss."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from laststep.recorder.source import used_in_tape

MAX_TENSORS = 12
TARGET_NAME = re.compile(r"(y|label|target|lbl|truth)")
MAX_STEP_FRAMES = 30
KERAS_MODULES = ("keras.src.", "tf_keras.src.")
MAX_FRAMES = 60
TRACING_FUNCTION = "func_graph_from_py_func"  # its callers are outside of the traced function
# Operations that pass on the output of an activation.
PASS_THROUGH_OPS = {"Identity", "Reshape", "Squeeze", "ExpandDims", "Cast", "StopGradient", "IdentityN"}


def frames_of_step(frame: FrameType | None) -> Iterator[FrameType]:
    """From the frame that takes the gradient outwards, up to where the traced function begins."""
    for _ in range(MAX_STEP_FRAMES):
        if frame is None or frame.f_code.co_name == TRACING_FUNCTION:
            return
        yield frame
        frame = frame.f_back


def traced_function(frame: FrameType | None) -> tuple[Any, bool]:
    """(the tf.function that is being traced, whether by get_concrete_function)."""
    for _ in range(MAX_FRAMES):
        if frame is None:
            break
        function: Any = frame.f_locals.get("self")
        if type(function).__name__ == "Function" and hasattr(function, "_python_function"):
            if frame.f_code.co_name in ("__call__", "get_concrete_function"):
                return function, frame.f_code.co_name == "get_concrete_function"
        frame = frame.f_back
    return None, False


def is_made_by_keras(frame: FrameType | None) -> bool:
    """Whether the traced function is one that Keras makes for its fit: no function of the program calls it."""
    function, _ = traced_function(frame)
    module = getattr(getattr(function, "_python_function", None), "__module__", None)  # not its code: Keras wraps it
    return str(module).startswith(KERAS_MODULES)


def tensors_of_step(frame: FrameType | None, graph: Any) -> dict[str, Any]:
    """By role if the step is Keras's own (or written like it); otherwise the arguments of the function."""
    for step in frames_of_step(frame):
        variables = step.f_locals
        if step.f_code.co_name.removeprefix("tf__") == "train_step" and "x" in variables and "y" in variables:
            values_by_role = {role: variables.get(role) for role in ("x", "y", "y_pred", "sample_weight")}
            found = _flatten(values_by_role, graph)
            if found:
                return found
    if graph is None:
        return _arguments(frame, graph)
    captured = {id(tensor) for _, tensor in graph.captures}
    inputs = [tensor for tensor in graph.inputs if id(tensor) not in captured]
    return {tensor.op.name: tensor for tensor in inputs[:MAX_TENSORS] if _is_data(tensor)}


def guess_roles(found: dict[str, Any]) -> dict[str, Any]:
    """By the names of the arguments; if there are two, the second is the target."""
    targets = [name for name in found if TARGET_NAME.match(name)]
    if not targets and len(found) == 2:
        targets = list(found)[1:]
    if len(targets) != 1:
        return found
    return {"y" if name in targets else f"x/{name}": tensor for name, tensor in found.items()}


def _arguments(frame: FrameType | None, graph: Any) -> dict[str, Any]:
    """An eager step: the arguments of the innermost function that takes tensors, or the names used under its tape."""
    for step in frames_of_step(frame):
        names = step.f_code.co_varnames[: step.f_code.co_argcount]
        found = _flatten({name: step.f_locals.get(name) for name in names}, graph)
        if found:
            return found
        if step.f_code.co_name == "<module>":
            break
    if frame is None:
        return {}
    used = used_in_tape(frame.f_code.co_filename, frame.f_lineno)
    return _flatten({name: frame.f_locals.get(name, frame.f_globals.get(name)) for name in used}, graph)


def _flatten(values_by_role: dict[str, Any], graph: Any) -> dict[str, Any]:
    nest = sys.modules["tensorflow"].nest
    found: dict[str, Any] = {}
    for role, value in values_by_role.items():
        if not isinstance(value, (tuple, list, dict)) and not hasattr(value, "shape"):
            continue
        parts = nest.flatten(value)
        for at, part in enumerate(parts):
            if _is_data(part) and getattr(part, "graph", None) is graph and len(found) < MAX_TENSORS:
                found[role if len(parts) == 1 else f"{role}/{at}"] = part
    return found


def _is_data(tensor: Any) -> bool:
    kind = type(tensor).__name__
    if kind not in ("EagerTensor", "SymbolicTensor", "Tensor"):
        return False
    dtype = tensor.dtype
    return bool(dtype.is_floating or dtype.is_integer or dtype.is_bool)


def producing_operation(tensor: Any) -> str:
    """The operation that made a symbolic tensor: Softmax, Sigmoid, BiasAdd …; "" if unknown."""
    op = getattr(tensor, "op", None) if getattr(tensor, "graph", None) is not None else None
    while op is not None and op.type in PASS_THROUGH_OPS and op.inputs:
        op = op.inputs[0].op
    return str(op.type) if op is not None else ""


def unreshaped(tensor: Any) -> Any:
    """The step's argument, before it was reshaped or cast."""
    while getattr(tensor, "graph", None) is not None and tensor.op.type in PASS_THROUGH_OPS and tensor.op.inputs:
        tensor = tensor.op.inputs[0]
    return tensor


def is_target(name: str, tensor: Any, target: Any) -> bool:
    """Whether the target was made from this tensor; for eager tensors, by name and size."""
    if tensor is target or tensor is unreshaped(target):
        return True
    has_target_name = getattr(tensor, "graph", None) is None and bool(TARGET_NAME.match(name))
    return has_target_name and tensor.shape.num_elements() == target.shape.num_elements()


def describe_loss(name: str, from_logits: Any, y_true: Any, y_pred: Any, label_smoothing: Any = None) -> dict[str, Any]:
    smoothing = {"label_smoothing": label_smoothing} if type(label_smoothing) is float and label_smoothing else {}
    return smoothing | {
        "name": name,
        "from_logits": from_logits,
        "y_shape": _shape(y_true),
        "y_dtype": str(getattr(y_true.dtype, "name", y_true.dtype)),
        "y_pred_shape": _shape(y_pred),
        "y_pred_dtype": str(getattr(y_pred.dtype, "name", y_pred.dtype)),
        "made_by": producing_operation(y_pred),
    }


def _shape(tensor: Any) -> list[int | None]:
    return [None if length is None else int(length) for length in tensor.shape]
