"""The call that made each tf.data dataset, with its inputs and the user's line; and repeating it with one edit."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from laststep.recorder.frames import PlaceFields, users_place
from laststep.recorder.guard import guard
from laststep.recorder.imports import when_imported
from laststep.recorder.patch import after, replace

PROBE = "side_run"
DATASETS_MODULE = "tensorflow.python.data.ops.dataset_ops"
READERS_MODULE = "tensorflow.python.data.ops.readers"
READER_CLASSES = {"TFRecordDatasetV2": "TFRecordDataset", "TextLineDatasetV2": "TextLineDataset"}
# `apply` returns what the calls inside it made, and those are recorded.
IGNORED_METHODS = {"apply", "options", "element_spec", "cardinality", "as_numpy_iterator"}


@dataclass(eq=False)
class Call:
    """A call that made a dataset. For a method, the first of `args` is its input."""

    dataset: Any
    method: str
    make: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    where: PlaceFields | None

    @property
    def inputs(self) -> list[Any]:
        return [part for part in _leaves([self.args, self.kwargs]) if is_dataset(part)]

    @property
    def input(self) -> Any:
        return self.inputs[0] if self.inputs else None

    def argument(self, name: str, position: int) -> Any:
        """The argument by name or position (the input has position 0); None if it was not given."""
        return self.kwargs.get(name, self.args[position] if len(self.args) > position else None)


# By the id of the dataset, which the call keeps alive: the process ends after the experiment.
_calls: dict[int, Call] = {}
_dataset_class: list[type] = []


def patch_datasets() -> None:
    when_imported(PROBE, DATASETS_MODULE, _patch_methods)
    when_imported(PROBE, READERS_MODULE, _patch_readers)


def _patch_methods(module: ModuleType) -> None:
    kind = module.DatasetV2
    _dataset_class.append(kind)
    for name, attribute in list(vars(kind).items()):
        if name.startswith("_") or name in IGNORED_METHODS or isinstance(attribute, property):
            continue
        function = attribute.__func__ if isinstance(attribute, staticmethod) else attribute
        if callable(function):
            wrapper = _recording(name, function)
            replace(PROBE, kind, name, staticmethod(wrapper) if isinstance(attribute, staticmethod) else wrapper)


def _patch_readers(module: ModuleType) -> None:
    for name, public_name in READER_CLASSES.items():
        kind = getattr(module, name)
        after(PROBE, kind, "__init__", functools.partial(_on_reader_created, public_name, kind))


def _recording(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        if is_dataset(result):
            guard(PROBE, record_call, result, name, original, args, kwargs, users_place(sys._getframe(1)))
        return result

    return wrapper


def _on_reader_created(public_name: str, kind: Any, result: None, dataset: Any, *args: Any, **kwargs: Any) -> None:
    record_call(dataset, public_name, kind, args, kwargs, users_place(sys._getframe(3)))


def record_call(dataset: Any, method: str, make: Any, args: Any, kwargs: Any, where: PlaceFields | None) -> Any:
    """TensorFlow's inner calls come first, so that the user's own call is what remains."""
    _calls[id(dataset)] = Call(dataset, method, make, tuple(args), dict(kwargs), where)
    return dataset


def is_dataset(value: Any) -> bool:
    return bool(_dataset_class) and isinstance(value, _dataset_class[0])


def call_behind(dataset: Any) -> Call | None:
    return _calls.get(id(dataset))


def walk(dataset: Any) -> Iterator[Call]:
    """Every recorded call behind a dataset, from its end to its sources."""
    call = call_behind(dataset)
    if call is not None:
        yield call
        for part in call.inputs:
            yield from walk(part)


def rebuild(dataset: Any, target: Call, edit: Callable[[Call], Any]) -> Any:
    """The same dataset, with `edit(target)` in place of the target's call."""
    call = call_behind(dataset)
    if call is target:
        return edit(target)
    if call is None or not any(below is target for below in walk(dataset)):
        return dataset
    swap = functools.partial(_with_datasets_replaced, change=lambda part: rebuild(part, target, edit))
    return repeat_call(
        call, tuple(swap(part) for part in call.args), {key: swap(part) for key, part in call.kwargs.items()}
    )


def repeat_call(call: Call, args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None) -> Any:
    """The same call once more, with other arguments if given."""
    args, kwargs = call.args if args is None else args, call.kwargs if kwargs is None else kwargs
    return record_call(call.make(*args, **kwargs), call.method, call.make, args, kwargs, call.where)


def _with_datasets_replaced(part: Any, change: Callable[[Any], Any]) -> Any:
    if is_dataset(part):
        return change(part)
    if type(part) in (tuple, list):
        return type(part)(_with_datasets_replaced(inner, change) for inner in part)
    return {key: _with_datasets_replaced(inner, change) for key, inner in part.items()} if type(part) is dict else part


def _leaves(value: Any) -> Iterator[Any]:
    if type(value) in (tuple, list, dict):
        for inner in value.values() if type(value) is dict else value:
            yield from _leaves(inner)
    else:
        yield value
