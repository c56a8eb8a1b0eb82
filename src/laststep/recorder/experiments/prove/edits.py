"""The changes that can be tried: each is applied in place, in this process, and returns how to undo it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from laststep.recorder.experiments.prove.held_batches import CannotTry

Undo = Callable[[], None]
MIN_ARGUMENT, MIN_ROOT_ARGUMENT = 1e-7, 1e-12  # for logarithms and divisions; for roots
PASSIVE_LAYERS = ("InputLayer", "Dropout", "Flatten", "Reshape")
KERNEL_INITIALIZERS = {"kernel": "kernel_initializer", "recurrent_kernel": "recurrent_initializer"}


def keras_of(model: Any) -> Any:
    """The library that the model belongs to."""
    legacy = any(kind.__module__.startswith("tf_keras.") for kind in type(model).__mro__)
    return sys.modules["tf_keras" if legacy else "keras"]


def layers_of(model: Any) -> list[Any]:
    """The layers that compute, those of inner models included, in the model's order."""
    flat = list(model._flatten_layers(include_self=False, recursive=True))
    inner = [layer for layer in flat if not getattr(layer, "layers", None)]
    return [layer for layer in inner if type(layer).__name__ not in PASSIVE_LAYERS]


def set_learning_rate(model: Any, rate: float) -> Undo:
    optimizer = getattr(model.optimizer, "inner_optimizer", model.optimizer)
    learning_rate = optimizer._learning_rate
    if hasattr(learning_rate, "assign"):
        before = float(learning_rate.numpy())
        learning_rate.assign(rate)
        return lambda: learning_rate.assign(before)
    return _set(optimizer, "_learning_rate", rate)  # a number replaces a schedule


def set_clipnorm(model: Any, norm: float) -> Undo:
    optimizer = getattr(model.optimizer, "inner_optimizer", model.optimizer)
    return _all([_set(optimizer, "clipvalue", None), _set(optimizer, "global_clipnorm", None),
                 _set(optimizer, "clipnorm", norm)])  # fmt: skip


def change_hidden(model: Any, change: dict[str, Any]) -> Undo:
    """Another activation or another initializer, in every layer but the last that has one."""
    keras, (*hidden, _) = keras_of(model), layers_of(model)
    undos: list[Undo] = []
    for layer in hidden:
        name = getattr(getattr(layer, "activation", None), "__name__", None)
        if "activation" in change and (name in change["from"] or type(layer).__name__.lower() in change["from"]):
            undos.append(_set_activation(keras, layer, change["activation"]))
            if "initializer" in change:
                _reinitialize(keras, layer, change["initializer"])
    if "activation" not in change:
        reinitialized = [_reinitialize(keras, layer, change["initializer"]) for layer in layers_of(model)]
        undos += [_do_nothing] if any(reinitialized) else []
    if not undos:
        raise CannotTry("no layer of the model is of the kind that would be changed")
    return _all(undos)


def change_output(model: Any, change: dict[str, Any]) -> Undo:
    """Another activation of the last layer, whether it is part of a layer or a layer of its own."""
    layers = layers_of(model)
    if not layers:
        raise CannotTry("the model has no Keras layers")
    named = [at for at, layer in enumerate(layers) if layer.name == change.get("layer")]
    end = layers[named[-1] :] if named else layers[-1:]
    with_activation = [layer for layer in end if _has_activation(layer)]
    return _set_activation(keras_of(model), with_activation[-1] if with_activation else end[0], change["activation"])


def _has_activation(layer: Any) -> bool:
    """The layer has an activation, or is one."""
    own = getattr(layer, "activation", None)
    return getattr(own, "__name__", "linear") != "linear" if hasattr(layer, "activation") else not layer.weights


def _set_activation(keras: Any, layer: Any, name: str) -> Undo:
    function = keras.activations.get(name)
    if hasattr(layer, "activation"):
        return _set(layer, "activation", function)
    if getattr(layer, "weights", None):
        raise CannotTry(f"the layer {layer.name} has no activation that could be set")
    return _set(layer, "call", lambda inputs, *args, **kwargs: function(inputs))


def _reinitialize(keras: Any, layer: Any, initializer: str) -> bool:
    """Initialize the weights again, in place; they are restored with all others before the next arm."""
    reinitialized = False
    for name in KERNEL_INITIALIZERS:
        weight = getattr(getattr(layer, "cell", layer), name, None)
        if weight is not None and hasattr(weight, "assign"):
            chosen = keras.initializers.get("orthogonal" if name == "recurrent_kernel" else initializer)
            weight.assign(chosen(tuple(weight.shape), dtype=weight.dtype))
            reinitialized = True
    return reinitialized


def change_loss(model: Any, change: Any) -> Undo:
    """Another loss, or the same one with other settings."""
    keras, before = keras_of(model), model.loss
    new = change if isinstance(change, str) else _with_settings(keras, before, change)

    def compile_with(loss: Any) -> None:
        kept = {"run_eagerly": model.run_eagerly, "jit_compile": bool(getattr(model, "jit_compile", False))}
        model.compile(optimizer=model.optimizer, loss=loss, **kept)

    compile_with(new)
    return lambda: compile_with(before)


def _with_settings(keras: Any, loss: Any, change: dict[str, Any]) -> Any:
    if hasattr(loss, "get_config"):
        return type(loss).from_config(loss.get_config() | change)
    name = str(getattr(loss, "__name__", loss))
    kind = getattr(keras.losses, "".join(part.capitalize() for part in name.split("_")), None)
    if kind is None:
        raise CannotTry(f"the loss {name} is the program's own, and is not changed from outside")
    return kind(**change)


def set_trainable(model: Any, change: bool) -> Undo:
    """Inner layers first, so that they are restored last: a model passes the setting on to its layers."""
    inner = [*model._flatten_layers(include_self=False, recursive=True)]
    return _all([_set(layer, "trainable", change) for layer in [*reversed(inner), model]])


def set_precision(model: Any, change: str) -> Undo:
    """Another precision for computing; the weights themselves must be float32 already."""
    layers = [*model._flatten_layers(include_self=True, recursive=True)]
    if any("16" in str(weight.dtype) for weight in model.weights):
        raise CannotTry("its weights themselves are float16, and it can't be rebuilt from outside")
    if not hasattr(type(model), "dtype_policy"):
        raise CannotTry("tf_keras fixes the precision when a layer is made")
    policy = keras_of(model).DTypePolicy(change)
    return _all([_set(layer, "dtype_policy", policy) for layer in layers])


def guard_math(model: Any, change: Any) -> Undo:
    """Keep the arguments of log, sqrt and division away from 0, in every call that looks these functions up."""
    tf = sys.modules["tensorflow"]
    calls: list[int] = []
    raw_ops = {name: getattr(tf.raw_ops, name) for name in ("Log", "Sqrt", "RealDiv", "Rsqrt", "Log1p")}

    def at_least(x: Any, minimum: float) -> Any:
        calls.append(1)
        x = tf.convert_to_tensor(x)
        return tf.maximum(x, tf.cast(minimum, x.dtype))

    def divide(x: Any, y: Any, name: Any = None) -> Any:
        calls.append(1)
        x, y = tf.convert_to_tensor(x), tf.convert_to_tensor(y)
        minimum = tf.cast(MIN_ARGUMENT, y.dtype)
        return raw_ops["RealDiv"](x=x, y=tf.where(tf.abs(y) < minimum, tf.where(y < 0, -minimum, minimum), y))

    safe = {
        "log": lambda x, name=None: raw_ops["Log"](x=at_least(x, MIN_ARGUMENT)),
        "log1p": lambda x, name=None: raw_ops["Log1p"](x=at_least(x, MIN_ARGUMENT - 1)),
        "sqrt": lambda x, name=None: raw_ops["Sqrt"](x=at_least(x, MIN_ROOT_ARGUMENT)),
        "rsqrt": lambda x, name=None: raw_ops["Rsqrt"](x=at_least(x, MIN_ROOT_ARGUMENT)),
        "real_div": divide,
    }
    owners = [tf, tf.math, *(sys.modules[f"tensorflow.python.ops.{name}"] for name in ("gen_math_ops", "math_ops"))]
    restore = _all([_set(owner, name, new) for owner in owners for name, new in safe.items() if hasattr(owner, name)])

    def undo() -> None:
        restore()
        if not calls:
            raise CannotTry("no log, root or division in the program's own code could be changed")

    return undo


def _set(owner: Any, name: str, value: Any) -> Undo:
    own = name in vars(owner)
    before = getattr(owner, name, None)
    setattr(owner, name, value)
    return (lambda: setattr(owner, name, before)) if own or name != "call" else (lambda: delattr(owner, name))


def _all(undos: list[Undo]) -> Undo:
    def undo() -> None:
        for one in reversed(undos):
            one()

    return undo


def _do_nothing() -> None:
    return None


# In this order: a new loss is compiled first.
EDITS: dict[str, Callable[[Any, Any], Undo]] = {
    "loss": change_loss,
    "trainable": set_trainable,
    "precision": set_precision,
    "hidden": change_hidden,
    "output": change_output,
    "learning_rate": set_learning_rate,
    "clipnorm": set_clipnorm,
    "guard": guard_math,
}


def apply(model: Any, trial: dict[str, Any]) -> list[Undo]:
    return [edit(model, trial[name]) for name, edit in EDITS.items() if name in trial]
