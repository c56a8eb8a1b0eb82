"""The changes that can be tried: each is made in place, in this process, and gives back how it is undone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from laststep.recorder.experiments.prove.held_batches import CannotTry

Undo = Callable[[], None]
SMALL, SMALLER = 1e-7, 1e-12
NO_OUTPUT = ("InputLayer", "Dropout", "Flatten", "Reshape")
STANDARD_DRAW = {"kernel": "kernel_initializer", "recurrent_kernel": "recurrent_initializer"}


def keras_of(model: Any) -> Any:
    """The library that the model belongs to."""
    legacy = any(kind.__module__.startswith("tf_keras.") for kind in type(model).__mro__)
    return sys.modules["tf_keras" if legacy else "keras"]


def layers_of(model: Any) -> list[Any]:
    """Those that compute, inner models opened, in the model's own order."""
    flat = list(model._flatten_layers(include_self=False, recursive=True))
    inner = [layer for layer in flat if not getattr(layer, "layers", None)]
    return [layer for layer in inner if type(layer).__name__ not in NO_OUTPUT]


def set_rate(model: Any, rate: float) -> Undo:
    optimizer = getattr(model.optimizer, "inner_optimizer", model.optimizer)
    held = optimizer._learning_rate
    if hasattr(held, "assign"):
        before = float(held.numpy())
        held.assign(rate)
        return lambda: held.assign(before)
    return _set(optimizer, "_learning_rate", rate)  # a schedule gives way to a number


def clip(model: Any, norm: float) -> Undo:
    optimizer = getattr(model.optimizer, "inner_optimizer", model.optimizer)
    return _all([_set(optimizer, "clipvalue", None), _set(optimizer, "global_clipnorm", None),
                 _set(optimizer, "clipnorm", norm)])  # fmt: skip


def change_hidden(model: Any, wanted: dict[str, Any]) -> Undo:
    """Another activation, another way to draw weights, in every layer but the last that has such a thing."""
    keras, (*hidden, _) = keras_of(model), layers_of(model)
    undone: list[Undo] = []
    for layer in hidden:
        name = getattr(getattr(layer, "activation", None), "__name__", None)
        if "activation" in wanted and (name in wanted["from"] or type(layer).__name__.lower() in wanted["from"]):
            undone.append(_set_activation(keras, layer, wanted["activation"]))
            if "initializer" in wanted:
                _draw_again(keras, layer, wanted["initializer"])
    if "activation" not in wanted:
        drawn = [_draw_again(keras, layer, wanted["initializer"]) for layer in layers_of(model)]
        undone += [_nothing] if any(drawn) else []
    if not undone:
        raise CannotTry("no layer of the model is of the kind that would be changed")
    return _all(undone)


def change_output(model: Any, wanted: dict[str, Any]) -> Undo:
    """Another activation of the last layer; as long as it is one that stands by itself or inside a layer."""
    layers = layers_of(model)
    if not layers:
        raise CannotTry("the model has no layer of Keras's")
    named = [at for at, layer in enumerate(layers) if layer.name == wanted.get("layer")]
    end = layers[named[-1] :] if named else layers[-1:]
    bent = [layer for layer in end if _bends(layer)]
    return _set_activation(keras_of(model), bent[-1] if bent else end[0], wanted["activation"])


def _bends(layer: Any) -> bool:
    """It has an activation, or is one."""
    own = getattr(layer, "activation", None)
    return getattr(own, "__name__", "linear") != "linear" if hasattr(layer, "activation") else not layer.weights


def _set_activation(keras: Any, layer: Any, name: str) -> Undo:
    function = keras.activations.get(name)
    if hasattr(layer, "activation"):
        return _set(layer, "activation", function)
    if getattr(layer, "weights", None):
        raise CannotTry(f"the layer {layer.name} has no activation that could be set")
    return _set(layer, "call", lambda inputs, *args, **kwargs: function(inputs))


def _draw_again(keras: Any, layer: Any, initializer: str) -> bool:
    """New weights in place; they are put back with all others when the next arm begins."""
    drawn = False
    for name in STANDARD_DRAW:
        weight = getattr(getattr(layer, "cell", layer), name, None)
        if weight is not None and hasattr(weight, "assign"):
            chosen = keras.initializers.get("orthogonal" if name == "recurrent_kernel" else initializer)
            weight.assign(chosen(tuple(weight.shape), dtype=weight.dtype))
            drawn = True
    return drawn


def change_loss(model: Any, wanted: Any) -> Undo:
    """Another loss, or the same one told otherwise what it gets."""
    keras, before = keras_of(model), model.loss
    new = wanted if isinstance(wanted, str) else _told_otherwise(keras, before, wanted)

    def compile_with(loss: Any) -> None:
        kept = {"run_eagerly": model.run_eagerly, "jit_compile": bool(getattr(model, "jit_compile", False))}
        model.compile(optimizer=model.optimizer, loss=loss, **kept)

    compile_with(new)
    return lambda: compile_with(before)


def _told_otherwise(keras: Any, loss: Any, wanted: dict[str, Any]) -> Any:
    if hasattr(loss, "get_config"):
        return type(loss).from_config(loss.get_config() | wanted)
    name = str(getattr(loss, "__name__", loss))
    kind = getattr(keras.losses, "".join(part.capitalize() for part in name.split("_")), None)
    if kind is None:
        raise CannotTry(f"the loss {name} is the program's own, and is not changed from outside")
    return kind(**wanted)


def set_trainable(model: Any, wanted: bool) -> Undo:
    """The inner ones first, so that they are put back last: a model hands its own word down."""
    inner = [*model._flatten_layers(include_self=False, recursive=True)]
    return _all([_set(layer, "trainable", wanted) for layer in [*reversed(inner), model]])


def set_precision(model: Any, wanted: str) -> Undo:
    """Another precision to compute in; the weights themselves must be float32 already."""
    layers = [*model._flatten_layers(include_self=True, recursive=True)]
    if any("16" in str(weight.dtype) for weight in model.weights):
        raise CannotTry("its weights themselves are float16, and it can't be built anew from outside")
    if not hasattr(type(model), "dtype_policy"):
        raise CannotTry("tf_keras fixes the precision when a layer is made")
    policy = keras_of(model).DTypePolicy(wanted)
    return _all([_set(layer, "dtype_policy", policy) for layer in layers])


def guard_math(model: Any, wanted: Any) -> Undo:
    """log, sqrt and division keep away from 0; for whoever calls them, as long as the call looks them up."""
    tf = sys.modules["tensorflow"]
    used: list[int] = []
    plain = {name: getattr(tf.raw_ops, name) for name in ("Log", "Sqrt", "RealDiv", "Rsqrt", "Log1p")}

    def up(x: Any, least: float) -> Any:
        used.append(1)
        x = tf.convert_to_tensor(x)
        return tf.maximum(x, tf.cast(least, x.dtype))

    def divide(x: Any, y: Any, name: Any = None) -> Any:
        used.append(1)
        x, y = tf.convert_to_tensor(x), tf.convert_to_tensor(y)
        small = tf.cast(SMALL, y.dtype)
        return plain["RealDiv"](x=x, y=tf.where(tf.abs(y) < small, tf.where(y < 0, -small, small), y))

    safe = {
        "log": lambda x, name=None: plain["Log"](x=up(x, SMALL)),
        "log1p": lambda x, name=None: plain["Log1p"](x=up(x, SMALL - 1)),
        "sqrt": lambda x, name=None: plain["Sqrt"](x=up(x, SMALLER)),
        "rsqrt": lambda x, name=None: plain["Rsqrt"](x=up(x, SMALLER)),
        "real_div": divide,
    }
    owners = [tf, tf.math, *(sys.modules[f"tensorflow.python.ops.{name}"] for name in ("gen_math_ops", "math_ops"))]
    restore = _all([_set(owner, name, new) for owner in owners for name, new in safe.items() if hasattr(owner, name)])

    def undo() -> None:
        restore()
        if not used:
            raise CannotTry("no log, root or division of its own could be reached")

    return undo


def _set(owner: Any, name: str, value: Any) -> Undo:
    own = name in vars(owner)
    before = getattr(owner, name, None)
    setattr(owner, name, value)
    return (lambda: setattr(owner, name, before)) if own or name != "call" else (lambda: delattr(owner, name))


def _all(undone: list[Undo]) -> Undo:
    def undo() -> None:
        for one in reversed(undone):
            one()

    return undo


def _nothing() -> None:
    return None


# In this order: a new loss is compiled first.
EDITS: dict[str, Callable[[Any, Any], Undo]] = {
    "loss": change_loss,
    "trainable": set_trainable,
    "precision": set_precision,
    "hidden": change_hidden,
    "output": change_output,
    "learning_rate": set_rate,
    "clipnorm": clip,
    "guard": guard_math,
}


def apply(model: Any, trial: dict[str, Any]) -> list[Undo]:
    return [edit(model, trial[name]) for name, edit in EDITS.items() if name in trial]
