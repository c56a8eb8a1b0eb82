"""The layers of a model and where each was made: class, activation, what can be trained."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Any

from laststep.recorder.frames import is_users, users_frame, users_place
from laststep.recorder.guard import attempt
from laststep.recorder.numbers.roles import frames_of_step
from laststep.recorder.source import where_called

AUTOGRAPH = "__autograph_generated_file"
MAX_LAYERS = 200
MAX_NAMES = 2000  # names searched for the model, per scope

_places: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def remember_place(layer: Any, frame: FrameType | None) -> None:
    place = users_place(frame)
    if place is not None:
        _places[layer] = place


def place_made(layer: Any) -> Any:
    """The user's line that made this layer."""
    return _places.get(layer)


def find_model(frame: FrameType, variables: list[Any]) -> Any:
    """The model that owns these variables: from the frames around the gradient, or the program's globals."""
    wanted = {id(variable) for variable in variables}
    for value in _values_near(frame):
        if _is_model(value) and wanted & {id(variable_of(weight)) for weight in value.trainable_variables}:
            return value
    return None


def find_optimizer(frame: FrameType) -> Any:
    """The optimizer that will apply the gradients: the model's own, or one that a frame of the step names."""
    for value in _values_near(frame):
        if _is_model(value) and getattr(value, "optimizer", None) is not None:
            return value.optimizer
        if hasattr(type(value), "apply_gradients") and hasattr(type(value), "iterations"):
            return value
    return None


def _values_near(frame: FrameType) -> Iterator[Any]:
    """The values named in the frames of the step, then in the program's own files."""
    files = {}
    for step in frames_of_step(frame):
        yield from list(step.f_locals.values())[:MAX_NAMES]
        if is_users(step.f_code.co_filename) or AUTOGRAPH in step.f_code.co_filename:
            files[id(step.f_globals)] = step.f_globals
    for names in files.values():
        yield from list(names.values())[:MAX_NAMES]


def describe_optimizer(optimizer: Any, frame: FrameType) -> dict[str, Any]:
    if optimizer is None:
        return {}
    inner = getattr(optimizer, "inner_optimizer", None)
    scale = getattr(optimizer, "dynamic_scale", None) if inner is not None else None
    described = {"class": type(optimizer).__name__, "learning_rate": current_learning_rate(optimizer)}
    made, _ = attempt(where_called, users_frame(frame), type(optimizer if inner is None else inner).__name__, "compile")
    described |= {"where": made} if made else {}
    return described | ({"inner": type(inner).__name__, "scales_loss": True} if inner is not None or scale else {})


def current_learning_rate(optimizer: Any) -> float | None:
    """The learning rate. A schedule of Keras's own is evaluated; one that the program wrote is not called."""
    inner_optimizer = getattr(optimizer, "inner_optimizer", None) or optimizer
    schedule = getattr(inner_optimizer, "_learning_rate", None)
    if callable(schedule) and type(schedule).__module__.split(".")[0] not in ("keras", "tf_keras"):
        return None
    rate, _ = attempt(lambda: float(inner_optimizer.learning_rate.numpy()))
    return rate


def _is_model(value: Any) -> bool:
    kind = type(value)
    return hasattr(kind, "train_step") and hasattr(kind, "trainable_variables") and hasattr(kind, "layers")


def variable_of(source: Any) -> Any:
    """The tf.Variable behind a Keras variable; None for a tensor."""
    if source is None:
        return None
    variable = source.value if hasattr(source, "path") and not callable(getattr(source, "value", None)) else source
    return variable if hasattr(variable, "handle") and hasattr(variable, "read_value") else None


def path_of(variable: Any) -> str:
    """For example sequential/dense/kernel."""
    return str(getattr(variable, "path", None) or variable.name.partition(":")[0])


def names_of(variables: list[Any]) -> list[str]:
    """Unique names: every tf.Variable created without a name is called Variable."""
    paths, seen = [path_of(variable) for variable in variables], dict[str, int]()
    for at, path in enumerate(paths):
        seen[path] = seen.get(path, 0) + 1
        if seen[path] > 1:
            paths[at] = f"{path}_{seen[path] - 1}"
    return paths


def describe_layers(model: Any) -> dict[str, Any]:
    if model is None:
        return {}
    layers = list(model._flatten_layers(include_self=False))[:MAX_LAYERS]
    optimizer = getattr(model, "optimizer", None)
    return {
        "name": model.name,
        "class": type(model).__name__,
        "trainable": len(model.trainable_variables),
        "variables": len(model.variables),
        "optimizer": type(optimizer).__name__ if optimizer is not None else None,
        "layers": [_describe_layer(layer) for layer in layers],
        "outputs": _output_layers(model),
    }


def _describe_layer(layer: Any) -> dict[str, Any]:
    described: dict[str, Any] = {"name": layer.name, "class": type(layer).__name__, "trainable": bool(layer.trainable)}
    for name in ("activation", "recurrent_activation"):
        function = getattr(layer, name, None)
        if function is not None:
            described[name] = getattr(function, "__name__", None) or type(function).__name__
    for name in ("units", "filters", "rate", "scale", "offset"):
        value = getattr(layer, name, None)
        if isinstance(value, (int, float)):
            described[name] = value
    weights, _ = attempt(lambda: [path_of(weight) for weight in layer.weights])
    if weights:
        described["weights"] = weights[:12]
    untracked, _ = attempt(_untracked, layer)
    if untracked:
        described["untracked"] = untracked[:12]
    policy = getattr(layer, "dtype_policy", None) or getattr(layer, "_dtype_policy", None)
    described["dtype"] = getattr(policy, "name", None)
    place = _places.get(layer)
    return described | ({"where": place} if place else {})


def _untracked(layer: Any) -> list[str]:
    """Variables that a layer holds but Keras does not track: a tf.Variable in a layer of Keras 3."""
    known = {id(variable_of(weight)) for weight in layer.weights}
    attributes = [(name, variable_of(value)) for name, value in list(vars(layer).items())[:MAX_NAMES]]
    untracked = [(name, value) for name, value in attributes if value is not None and id(value) not in known]
    return [name for name, value in untracked if value.trainable and value.dtype.is_floating and value.shape.rank]


def _output_layers(model: Any) -> list[str]:
    """The names of the layers that give the outputs, if the model is a graph of layers."""
    outputs, _ = attempt(lambda: list(model.outputs))
    names, _ = attempt(lambda: [str(output._keras_history.operation.name) for output in outputs or []])
    return names or []
