"""Describe a fit: arguments, data, model, optimizer, callbacks. Values are read, never computed."""

from __future__ import annotations

import math
import sys
from types import FrameType
from typing import Any

from laststep.recorder.frames import describe_callback, is_users, number, scalars, users_frame, users_place, where_made
from laststep.recorder.guard import attempt
from laststep.recorder.numbers.model_layers import variable_of
from laststep.recorder.pipeline import describe_stages
from laststep.recorder.source import precision_set_at, where_argument_set, where_attribute_set, where_dataset_source_set

ARGUMENTS = (
    "batch_size",
    "epochs",
    "initial_epoch",
    "steps_per_epoch",
    "validation_steps",
    "validation_split",
    "validation_freq",
    "shuffle",
    "verbose",
)
OPTIMIZER_SETTINGS = (
    "clipnorm",
    "clipvalue",
    "global_clipnorm",
    "weight_decay",
    "momentum",
    "nesterov",
    "beta_1",
    "beta_2",
    "epsilon",
    "use_ema",
    "loss_scale_factor",
    "gradient_accumulation_steps",
)


def describe_fit(frame: FrameType | None, model: Any, params: Any) -> dict[str, Any]:
    """Everything known when training begins. Parts that cannot be read are left out, not guessed."""
    arguments = frame.f_locals if frame is not None else {}
    described: dict[str, Any] = {name: _plain(arguments.get(name)) for name in ARGUMENTS if name in arguments}
    described["steps"] = _plain((params or {}).get("steps"))
    described["where"] = users_place(frame)
    described["backend"] = type(model).__module__.split(".")[0] if model is not None else None
    for name, read in _PARTS.items():
        value, problem = attempt(read, arguments, model)
        if problem:
            described.setdefault("unread", {})[name] = problem
        else:
            described[name] = value
    described.update(described.pop("compiled", None) or {})
    user_frame = users_frame(frame)
    if isinstance(described.get("data"), dict):
        described["data"] |= _data_lines(arguments, user_frame)
    if described.get("precision") not in (None, "float32"):
        described["precision_set_at"], _ = attempt(precision_set_at, user_frame)
    described["model_made_at"], _ = attempt(where_made, users_frame(frame), model)
    described["trainable_set_at"], _ = attempt(where_attribute_set, user_frame, "trainable")
    return described


def _data_lines(arguments: Any, user_frame: FrameType | None) -> dict[str, Any]:
    """Where the data was made: the arguments of fit, or the source of a tf.data pipeline."""
    found: dict[str, Any] = {}
    for argument, position, field in (("x", 0, "made_at"), ("y", 1, "y_made_at")):
        made, _ = attempt(where_argument_set, user_frame, "fit", argument, position)
        found[field] = made or attempt(where_made, user_frame, arguments.get(argument))[0]
    inputs, targets = (attempt(where_dataset_source_set, user_frame, "fit", position)[0] for position in (0, 1))
    found |= {"x_made_at": inputs, "y_made_at": found["y_made_at"] or targets}
    return {name: made for name, made in found.items() if made is not None}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    return number(value)


def _data(arguments: Any, model: Any) -> dict[str, Any]:
    x = arguments.get("x")
    kind = type(x)
    described: dict[str, Any] = {"type": f"{kind.__module__.split('.')[0]}.{kind.__name__}"}
    if hasattr(x, "element_spec"):
        described["element_spec"] = str(x.element_spec)[:1000]
        described["stages"] = describe_stages(x)
    elif hasattr(x, "shape"):
        described.update(shape=str(x.shape), dtype=str(getattr(x, "dtype", "")))
    y = arguments.get("y")
    if y is not None and hasattr(y, "shape"):
        described.update(y_shape=str(y.shape), y_dtype=str(getattr(y, "dtype", "")))
    generator = getattr(x, "gi_code", None)
    if generator is not None:
        described["where"] = {"file": generator.co_filename, "line": generator.co_firstlineno}
    described.update(_batch_counts(arguments))
    return described


def _batch_counts(arguments: Any) -> dict[str, Any]:
    """The number of batches as Keras determined it; asking TensorFlow again would run an operation."""
    iterator = arguments.get("epoch_iterator")
    if iterator is not None:
        adapter = getattr(iterator, "data_adapter", None)
        return {
            "adapter": type(adapter).__name__,
            "cardinality": _plain(getattr(iterator, "_num_batches", None)),
            "batch_size": _plain(getattr(adapter, "batch_size", None)),
        }
    handler = arguments.get("data_handler")
    adapter = getattr(handler, "_adapter", None)
    return {"adapter": type(adapter).__name__, "cardinality": _plain(getattr(handler, "_inferred_steps", None))}


def describe_model(model: Any) -> dict[str, Any]:
    """Class and name, and its size if the model is built."""
    kind = type(model)
    described: dict[str, Any] = {"class": kind.__name__, "name": model.name}
    code = getattr(kind.__init__, "__code__", None)
    if code is not None and is_users(code.co_filename):
        described["where"] = {"file": code.co_filename, "line": code.co_firstlineno}
    if getattr(model, "built", False):
        described["parameters"] = int(model.count_params())
        described["trainable"] = sum(_size(weight.shape) for weight in model.trainable_weights)
        layers = model.layers
        described["layers"] = len(layers)
        described["layer_classes"] = [type(layer).__name__ for layer in layers[:60]]
        described["last_activation"] = getattr(getattr(layers[-1], "activation", None), "__name__", None)
        described["input_shape"] = str(getattr(model, "input_shape", None))
        described["output_shape"] = str(getattr(model, "output_shape", None))
    return described


def _size(shape: Any) -> int:
    total = 1
    for length in shape:
        total *= int(length)
    return total


def _optimizer(arguments: Any, model: Any) -> dict[str, Any]:
    optimizer = model.optimizer
    described: dict[str, Any] = {"class": type(optimizer).__name__}
    inner = getattr(optimizer, "inner_optimizer", None)
    if inner is not None:
        described["inner"] = type(inner).__name__
        optimizer = inner
    rate = getattr(optimizer, "_learning_rate", None)
    if callable(rate):
        described["schedule"] = type(rate).__name__  # calling the schedule would run the user's code
    else:
        described["learning_rate"] = learning_rate(optimizer)
    settings = vars(optimizer)
    described.update(scalars({name: settings.get(name) for name in OPTIMIZER_SETTINGS}))
    return described


def learning_rate(optimizer: Any, may_wait: bool = True) -> float:
    """The learning rate if it is a plain variable; NaN for a schedule, which would have to be called.

    A variable on an accelerator can be read only after all pending work there: NaN unless `may_wait`.
    """
    rate: Any = getattr(getattr(optimizer, "inner_optimizer", optimizer), "_learning_rate", None)
    if not hasattr(rate, "numpy") or callable(rate):
        return math.nan
    if not may_wait and not _is_on_cpu(rate):
        return math.nan
    value, _ = attempt(rate.numpy)  # with JAX the variables are empty while fit runs
    return math.nan if value is None else float(value)


def _is_on_cpu(rate: Any) -> bool:
    """False also if the device is unknown: a mirrored variable knows only the devices of its copies."""
    variable, problem = attempt(variable_of, rate)
    return not problem and "CPU" in str(getattr(variable, "device", "CPU"))


def _compile_settings(arguments: Any, model: Any) -> dict[str, Any]:
    loss = getattr(model, "loss", None)
    strategy = getattr(model, "distribute_strategy", None)
    policy = getattr(model, "dtype_policy", None) or getattr(model, "_dtype_policy", None)
    return {
        "loss": _name(loss),
        "from_logits": getattr(loss, "_fn_kwargs", {}).get("from_logits") if hasattr(loss, "_fn_kwargs") else None,
        "jit_compile": _plain(getattr(model, "jit_compile", getattr(model, "_jit_compile", None))),
        "run_eagerly": _plain(getattr(model, "run_eagerly", None)),
        "steps_per_execution": _steps_per_execution(model),
        "strategy": type(strategy).__name__ if strategy is not None else None,
        "precision": getattr(policy, "name", None),
        "own_train_step": _own_train_step(model),
    }


def _steps_per_execution(model: Any) -> Any:
    value: Any = getattr(model, "steps_per_execution", None) or getattr(model, "_steps_per_execution", None)
    return _plain(value) if number(value) is not None else int(value.numpy()) if hasattr(value, "numpy") else 1


def _own_train_step(model: Any) -> Any:
    code = getattr(getattr(type(model), "train_step", None), "__code__", None)
    if code is None or not is_users(code.co_filename):
        return None
    return {"file": code.co_filename, "line": code.co_firstlineno}


def _name(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {str(key): _name(item) for key, item in list(value.items())[:20]}
    if isinstance(value, (list, tuple)):
        return [_name(item) for item in value[:20]]
    return getattr(value, "__name__", None) or type(value).__name__


def _callbacks(arguments: Any, model: Any) -> list[dict[str, Any]]:
    given = arguments.get("callbacks")
    if given is None:
        return []
    members = getattr(given, "callbacks", None) or (given if isinstance(given, (list, tuple)) else [given])
    flat = [item for member in members for item in (member if isinstance(member, (list, tuple)) else [member])]
    return [describe_callback(item) | {"values": scalars(vars(item))} for item in flat if _is_of_host(item)]


def _is_of_host(callback: Any) -> bool:
    return not type(callback).__module__.startswith("laststep.")


def _environment(arguments: Any, model: Any) -> dict[str, Any]:
    context = sys.modules.get("tensorflow.python.eager.context")
    initialized = getattr(context, "_context", None)
    devices = getattr(initialized, "_logical_devices", None) or []
    return {"devices": [str(getattr(device, "name", device)) for device in devices][:16]}


_PARTS = {
    "data": _data,
    "validation": lambda arguments, model: arguments.get("validation_data") is not None,
    "model": lambda arguments, model: describe_model(model),
    "optimizer": _optimizer,
    "compiled": _compile_settings,
    "callbacks": _callbacks,
    "environment": _environment,
}
