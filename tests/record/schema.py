"""The schema of the record, read from its annotations: values of each kind for tests, and what is written again."""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Mapping
from typing import Annotated, Any

from hypothesis import strategies as st

from laststep.record.decode import KEY

NUMBERS = st.one_of(
    st.integers(-(2**63), 2**63),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([0, 1, -1, 10**18, 10**400, -(10**400), 1e308, 0.5]),
)
NAMES = st.sampled_from(["", "x", "loss", "file", "line", "0", "é\udcff", "a" * 300])
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, NAMES, st.text(max_size=20)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)


@functools.cache
def fields_of(kind: Any) -> tuple[tuple[str, tuple[str, ...], Any], ...]:
    """Each field that is on disk: its name, its names there, its type."""
    hints = typing.get_type_hints(kind, include_extras=True)
    return tuple(
        (field.name, field.metadata.get(KEY, (field.name,)), hints[field.name])
        for field in dataclasses.fields(kind)
        if field.name not in getattr(kind, "NOT_ON_DISK", ())
    )


@functools.cache
def written(kind: type) -> st.SearchStrategy[dict[str, Any]]:
    """What may stand on disk for this class, whole."""
    return st.fixed_dictionaries({}, optional={names[0]: values_of(hint) for _, names, hint in fields_of(kind)})


@functools.cache
def values_of(hint: Any) -> st.SearchStrategy[Any]:
    if hint in SIMPLE:
        return SIMPLE[hint]
    if dataclasses.is_dataclass(hint):
        return st.fixed_dictionaries({names[0]: values_of(kind) for _, names, kind in fields_of(hint)})
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return values_of(parts[0])
    if origin in (types.UnionType, typing.Union):
        return st.one_of(*(values_of(part) for part in parts))
    if origin is tuple and parts[-1] is Ellipsis:
        return st.lists(values_of(parts[0]), max_size=3)
    if origin is tuple:
        return st.tuples(*(values_of(part) for part in parts)).map(list)
    assert origin is Mapping, hint
    return st.dictionaries(NAMES, values_of(parts[1]), max_size=3)


SIMPLE: Mapping[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=10),
    bool: st.booleans(),
    int: st.integers(-(2**63), 2**63),
    float: st.floats() | st.integers(-(2**53), 2**53),
    type(None): st.none(),
    Any: JSON,
}


def encode(value: Any) -> Any:
    """A decoded value as it would be written, under each of the names that a field has on disk."""
    if dataclasses.is_dataclass(value):
        kind = type(value)
        return {on_disk: encode(getattr(value, name)) for name, names, _ in fields_of(kind) for on_disk in names}
    if isinstance(value, Mapping):
        return {name: encode(item) for name, item in value.items()}
    return [encode(item) for item in value] if isinstance(value, (tuple, list)) else value


def lost(before: Any, after: Any, path: str) -> list[str]:
    """What was written and is not there, or is another value, after it was decoded."""
    if isinstance(before, dict) and isinstance(after, dict):
        kept = {name: item for name, item in before.items() if name in after}
        missing = [f"{path}.{name} is unknown" for name in before if name not in after]
        return missing + [each for name, item in kept.items() for each in lost(item, after[name], f"{path}.{name}")]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [each for one, other in zip(before, after, strict=True) for each in lost(one, other, f"{path}[]")]
    return [] if same(before, after) else [f"{path}: {before!r:.80} became {after!r:.80}"]


def same(one: Any, other: Any) -> bool:
    """Equal and of one form: 1 and 1.0 are, True and 1 are not; NaN is the same as NaN."""
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
