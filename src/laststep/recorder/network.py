"""The layers on the way to an error: order, shapes, settings, and the source that made each."""

from __future__ import annotations

import re
import sys
import weakref
from collections.abc import Iterable, Iterator
from types import FrameType, ModuleType
from typing import Any

from laststep.recorder.call_source import Site, describe_call, site_of
from laststep.recorder.frames import is_users
from laststep.recorder.guard import attempt
from laststep.recorder.numbers.model_layers import place_made

MAX_LAYERS = 60
MAX_ELEMENTS = 1000  # of an object array
MAX_AXES = 8
LIBRARIES = ("keras", "tf_keras")
SETTINGS = (
    *("units", "filters", "rank", "input_dim", "output_dim", "groups", "return_sequences", "return_state"),
    *("padding", "data_format", "kernel_size", "pool_size", "strides", "size", "target_shape", "axis"),
)
ABOUT_SHAPES = re.compile(
    r"(?i)shape|ndim|\bdim|rank|axis|axes|class_weight|incompat|\bdepth\b|\bweights?\b|\binputs?\b|array|cardinality|"
    r"dtype: object|object type|rectangular|0-dimensional"
)

_sites: weakref.WeakKeyDictionary[Any, Site] = weakref.WeakKeyDictionary()


def remember_call(layer: Any, frame: FrameType | None) -> None:
    """Which call of the user's made this layer."""
    site = site_of(frame)
    if site is not None:
        _sites[layer] = site


def describe_network(message: str, frames: Iterable[FrameType]) -> dict[str, Any] | None:
    """The layers around an error, from the frames it passed, outermost first; None where it is not about shapes."""
    if not ABOUT_SHAPES.search(message):
        return None
    passed = list(frames)
    inside = [frame for frame in passed if _layer_in(frame) is not None]
    called = _users_call(passed)
    model = next((_layer_in(frame) for frame in inside if _is_model(_layer_in(frame))), None)
    failed = next((frame for frame in reversed(inside) if _is_named_in(message, _layer_in(frame))), None)
    if failed is None:
        failed = next(
            (f for f in reversed(inside) if f.f_code.co_name == "__call__" and not _is_model(_layer_in(f))), None
        )
    layer = _layer_in(failed) if failed is not None else None
    calls = [_given_to(frame) for frame in inside if layer is not None and _layer_in(frame) is layer]
    given = next((each for each in calls if each is not None), None)
    path = _path(model, layer, given)
    if not path and called is None:
        return None  # nothing of the user's own
    return {
        "model": type(model).__name__ if model is not None else "",
        "failed": layer.name if layer is not None else "",
        "layers": path[-MAX_LAYERS:],
        "call": called,
        **(attempt(_fit_shapes, passed)[0] or {}),
        "objects": attempt(_describe_objects, passed)[0],
        **(attempt(_reach, passed, layer if layer is not None else model)[0] or {}),
    }


def _layer_in(frame: FrameType) -> Any:
    """The layer whose method this is. No other frame's locals are read: Python keeps what was read of them."""
    if frame.f_code.co_varnames[:1] != ("self",) and "self" not in frame.f_code.co_freevars:
        return None
    value = frame.f_locals.get("self")
    return value if _is_layer(value) else None


def _is_layer(value: Any) -> bool:
    return any(
        kind.__name__ == "Layer" and kind.__module__.partition(".")[0] in LIBRARIES for kind in type(value).__mro__
    )


def _is_model(layer: Any) -> bool:
    return layer is not None and hasattr(type(layer), "train_step") and hasattr(type(layer), "layers")


def _is_named_in(message: str, layer: Any) -> bool:
    name = re.escape(str(layer.name))
    return not _is_model(layer) and re.search(rf"[\"'`]{name}[\"'`]|[Ll]ayer {name} ", message) is not None


def _given_to(frame: FrameType) -> Any:
    """The first input of a layer's call; None in a frame of another method."""
    named = frame.f_locals
    if frame.f_code.co_name != "__call__":
        return None
    args = named.get("args")
    return named.get("inputs", args[0] if isinstance(args, tuple) and args else None)


def _path(model: Any, failed: Any, given: Any) -> list[dict[str, Any]]:
    """The layers in the order in which the data passes them."""
    first = next(iter(_flat(given)), None)
    end = first if failed is not None else next(iter(_flat(attempt(_outputs, model)[0])), None)
    steps = attempt(_by_history, end)[0] or []
    if steps or model is None:
        return [
            _describe(*step) for step in [*steps, *([(failed, _shapes(given), None)] if failed is not None else [])]
        ]
    layers = attempt(lambda: list(model.layers))[0] or []
    first = attempt(lambda: model.inputs[0]._keras_history[0])[0]
    layers = [*([first] if first is not None and first not in layers else []), *layers]
    shapes = [_shapes(given) if layer is failed else _built_for(layer) for layer in layers]
    described = [_describe(layer, shape, None) for layer, shape in zip(layers[:MAX_LAYERS], shapes, strict=False)]
    return _by_source(described, failed.name if failed is not None else "")


def _outputs(model: Any) -> Any:
    functional = getattr(model, "_functional", None)
    return (model if functional is None else functional).outputs


def _flat(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [part for each in value[:MAX_AXES] for part in _flat(each)]
    return list(value.values())[:MAX_AXES] if isinstance(value, dict) else [] if value is None else [value]


def _by_history(tensor: Any) -> list[tuple[Any, Any, Any]]:
    """(layer, shapes given, shape it gives), through the nodes that Keras keeps, along each first input."""
    steps: list[tuple[Any, Any, Any]] = []
    while tensor is not None and len(steps) < MAX_LAYERS:
        layer, index, _ = tensor._keras_history
        node = layer._inbound_nodes[index]
        inputs = getattr(node, "input_tensors", None) if hasattr(node, "input_tensors") else node.keras_inputs
        given = _flat(inputs)
        steps.append((layer, _shapes(given if len(given) > 1 else given[:1]), tensor.shape))
        tensor = next((each for each in given if each is not tensor), None)
    return steps[::-1]


def _by_source(described: list[dict[str, Any]], failed: str) -> list[dict[str, Any]]:
    """In the order in which the source applies them, where it applies each once; else as the model holds them."""
    uses = [(layer.get("made") or {}).get("use") for layer in described]
    if all(uses) and len({layer["made"]["file"] for layer in described}) == 1:
        described = sorted(described, key=lambda layer: _order_of_use(layer["made"]["use"]))
    names = [layer["name"] for layer in described]
    return described[: names.index(failed) + 1] if failed in names else described


def _order_of_use(use: dict[str, Any]) -> tuple[int, int]:
    """Of nested calls the inner one comes first."""
    return use["line"], -use["argument"].get("begin", 0)


def _built_for(layer: Any) -> Any:
    shapes = getattr(layer, "_build_shapes_dict", None) or {"input": getattr(layer, "batch_shape", None)}
    return next(iter(shapes.values()), None) if isinstance(shapes, dict) else getattr(layer, "_build_input_shape", None)


def _shapes(given: Any) -> Any:
    shapes = [getattr(each, "shape", None) for each in _flat(given)]
    return shapes if len(shapes) > 1 else next(iter(shapes), None)


def _sizes(shape: Any) -> list[Any]:
    """A shape as plain numbers; of several, the first."""
    sizes = shape.as_list() if hasattr(shape, "as_list") else list(shape or ())
    if sizes and not (sizes[0] is None or isinstance(sizes[0], int)):
        return _sizes(sizes[0])
    return [None if size is None else int(size) for size in sizes[:MAX_AXES]]


def _describe(layer: Any, given: Any, gives: Any) -> dict[str, Any]:
    kind = type(layer)
    inner = getattr(layer, "forward_layer", None) or getattr(layer, "layer", None)
    described = {
        "name": str(layer.name),
        "class": kind.__name__,
        "library": kind.__module__.partition(".")[0],
        "inner": type(inner).__name__ if _is_layer(inner) else "",
        "given": attempt(_sizes, given)[0] or [],
        "gives": attempt(_sizes, gives)[0] or [],
        "others": [attempt(_sizes, one)[0] or [] for one in given[1:]]
        if isinstance(given, list) and _is_nested(given)
        else [],
        "settings": _settings(inner if _is_layer(inner) else layer),
        "weights": attempt(_weight_shapes, layer)[0] or [],
    }
    place, site = place_made(layer), _sites.get(layer)
    made, _ = attempt(describe_call, site, kind.__name__)
    return described | ({"where": place} if place else {}) | ({"made": made} if made else {})


def _is_nested(given: list[Any]) -> bool:
    return bool(given) and not isinstance(given[0], (int, type(None)))


def _weight_shapes(layer: Any) -> list[list[int]]:
    return [_sizes(weight.shape) for weight in layer.weights[:MAX_AXES]]


def _settings(layer: Any) -> dict[str, Any]:
    values = {name: getattr(layer, name, None) for name in SETTINGS}
    plain = {n: v for n, v in values.items() if isinstance(v, (bool, int, str))}
    return plain | {
        n: ",".join(map(str, v)) for n, v in values.items() if isinstance(v, (tuple, list)) and len(v) < MAX_AXES
    }


def _users_call(passed: list[FrameType]) -> dict[str, Any] | None:
    """The user's call that led into Keras; where none did, the innermost."""
    caller = None
    for frame in passed:
        if is_users(frame.f_code.co_filename):
            caller = frame
        elif caller is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in LIBRARIES:
            break
    return attempt(describe_call, site_of(caller))[0] if caller is not None else None


def _fit_shapes(passed: list[FrameType]) -> dict[str, Any]:
    """The shapes of the arrays that fit was given."""
    for frame in passed:
        if frame.f_code.co_name == "fit" and _layer_in(frame) is not None:
            given = {name: getattr(frame.f_locals.get(name), "shape", None) for name in ("x", "y")}
            return {f"{name}_shape": _sizes(shape) for name, shape in given.items() if shape is not None}
    return {}


def _describe_objects(passed: list[FrameType]) -> dict[str, Any] | None:
    """What the object array holds that fit was given."""
    for frame in passed:
        x: Any = frame.f_locals.get("x") if frame.f_code.co_name == "fit" else None
        if x is not None and str(getattr(x, "dtype", "")) == "object" and len(x.shape) == 1:
            kinds = {type(each).__name__ for each in x[:MAX_ELEMENTS]}
            shapes = [
                tuple(getattr(each, "shape", (len(each),))) for each in x[:MAX_ELEMENTS] if hasattr(each, "__len__")
            ]
            lengths = [shape[0] for shape in shapes if shape]
            ends = {"shortest": min(lengths), "longest": max(lengths), "axes": max(map(len, shapes))} if lengths else {}
            return {"kinds": sorted(kinds)[:5]} | ends
    return None


def _reach(passed: list[FrameType], layer: Any) -> dict[str, str]:
    """How the user's file names keras.layers, `layers.` or `tf.keras.layers.`, and Keras itself, `tf.keras.`."""
    library = (
        type(layer).__module__.partition(".")[0] if type(layer).__module__.partition(".")[0] in LIBRARIES else "keras"
    )
    files = [frame.f_globals for frame in passed if is_users(frame.f_code.co_filename)]
    modules = [
        (name, value) for names in files[-1:] for name, value in list(names.items()) if isinstance(value, ModuleType)
    ]
    ways = list(_ways(modules, library))
    keras = [way.removesuffix("layers.") for way in ways if way.count(".") > 1]
    return {name: found[0] for name, found in (("reach", ways), ("keras", keras)) if found}


def _ways(modules: list[tuple[str, ModuleType]], library: str) -> Iterator[str]:
    for name, module in modules:
        path = str(getattr(module, "__name__", ""))
        if path.endswith("layers") and path.partition(".")[0] == library:
            yield f"{name}."
    for name, module in modules:
        path = str(getattr(module, "__name__", ""))
        if path.partition(".")[0] == library and sys.modules.get(f"{path}.layers") is not None:
            yield f"{name}.layers."
        if path == "tensorflow" and library == "keras":
            yield f"{name}.keras.layers."
