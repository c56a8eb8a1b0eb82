"""What each tf.data dataset was made by: the call, its inputs, the user's line; and the same again with one edit."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from laststep.recorder.frames import Place, users_place
from laststep.recorder.guard import guard
from laststep.recorder.imports import when_imported
from laststep.recorder.patch import after, replace

PROBE = "side_run"
DATASETS = "tensorflow.python.data.ops.dataset_ops"
READERS = "tensorflow.python.data.ops.readers"
FILE_READERS = {"TFRecordDatasetV2": "TFRecordDataset", "TextLineDatasetV2": "TextLineDataset"}
# `apply` gives back what the calls inside it made, and those are known.
PASSED_OVER = {"apply", "options", "element_spec", "cardinality", "as_numpy_iterator"}


@dataclass(eq=False)
class Call:
    """One call that made a dataset. The first of `args` is its input, for a method."""

    dataset: Any
    method: str
    make: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    where: Place | None

    @property
    def inputs(self) -> list[Any]:
        return [part for part in _parts([self.args, self.kwargs]) if is_dataset(part)]

    @property
    def input(self) -> Any:
        return self.inputs[0] if self.inputs else None

    def argument(self, name: str, position: int) -> Any:
        """What was given for it, by name or by place (the input is place 0); None where nothing was."""
        return self.kwargs.get(name, self.args[position] if len(self.args) > position else None)


# By the id of the dataset, which the call keeps alive: the process is thrown away afterwards.
_calls: dict[int, Call] = {}
_kind: list[type] = []


def watch() -> None:
    when_imported(PROBE, DATASETS, _watch_methods)
    when_imported(PROBE, READERS, _watch_readers)


def _watch_methods(module: ModuleType) -> None:
    kind = module.DatasetV2
    _kind.append(kind)
    for name, found in list(vars(kind).items()):
        if name.startswith("_") or name in PASSED_OVER or isinstance(found, property):
            continue
        plain = found.__func__ if isinstance(found, staticmethod) else found
        if callable(plain):
            wrapper = _remembering(name, plain)
            replace(PROBE, kind, name, staticmethod(wrapper) if isinstance(found, staticmethod) else wrapper)


def _watch_readers(module: ModuleType) -> None:
    for name, spoken in FILE_READERS.items():
        kind = getattr(module, name)
        after(PROBE, kind, "__init__", functools.partial(_read, spoken, kind))


def _remembering(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        if is_dataset(result):
            guard(PROBE, remember, result, name, original, args, kwargs, users_place(sys._getframe(1)))
        return result

    return wrapper


def _read(spoken: str, kind: Any, result: None, dataset: Any, *args: Any, **kwargs: Any) -> None:
    remember(dataset, spoken, kind, args, kwargs, users_place(sys._getframe(3)))


def remember(dataset: Any, method: str, make: Any, args: Any, kwargs: Any, where: Place | None) -> Any:
    """A call inside a call of TensorFlow's comes first, so that the user's own is what stays."""
    _calls[id(dataset)] = Call(dataset, method, make, tuple(args), dict(kwargs), where)
    return dataset


def is_dataset(value: Any) -> bool:
    return bool(_kind) and isinstance(value, _kind[0])


def made_by(dataset: Any) -> Call | None:
    return _calls.get(id(dataset))


def walk(dataset: Any) -> Iterator[Call]:
    """Every known call behind a dataset, from its end to its sources."""
    call = made_by(dataset)
    if call is not None:
        yield call
        for part in call.inputs:
            yield from walk(part)


def rebuild(dataset: Any, target: Call, edit: Callable[[Call], Any]) -> Any:
    """The dataset as it was made, with `edit(target)` where the target's call was."""
    call = made_by(dataset)
    if call is target:
        return edit(target)
    if call is None or not any(below is target for below in walk(dataset)):
        return dataset
    swap = functools.partial(_replaced, change=lambda part: rebuild(part, target, edit))
    return again(call, tuple(swap(part) for part in call.args), {key: swap(part) for key, part in call.kwargs.items()})


def again(call: Call, args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None) -> Any:
    """The same call once more, perhaps with other arguments."""
    args, kwargs = call.args if args is None else args, call.kwargs if kwargs is None else kwargs
    return remember(call.make(*args, **kwargs), call.method, call.make, args, kwargs, call.where)


def _replaced(part: Any, change: Callable[[Any], Any]) -> Any:
    if is_dataset(part):
        return change(part)
    if type(part) in (tuple, list):
        return type(part)(_replaced(inner, change) for inner in part)
    return {key: _replaced(inner, change) for key, inner in part.items()} if type(part) is dict else part


def _parts(value: Any) -> Iterator[Any]:
    if type(value) in (tuple, list, dict):
        for inner in value.values() if type(value) is dict else value:
            yield from _parts(inner)
    else:
        yield value
