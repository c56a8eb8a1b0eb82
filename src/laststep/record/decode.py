"""Tolerant reading driven by the annotations: a bad field becomes its default, a bad element is left out. And back."""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, TypeAlias, TypeVar

T = TypeVar("T")
FieldReader: TypeAlias = Callable[[Any], Any]  # the value as annotated, or BAD

BAD: Final = object()
WHOLE: Final = "whole"  # marks a tuple that means nothing with an element missing
KEY: Final = "key"
MAX_NUMBER = 10**300  # a whole number in JSON may have any number of digits, and not fit into a float

Shape: TypeAlias = Annotated[tuple[int | None, ...], WHOLE]
Scalar: TypeAlias = str | int | float | bool | None


def key(*names: str) -> dict[str, tuple[str, ...]]:
    """Metadata for a field with other names on disk, the newest first: `field(default="", metadata=key("class"))`."""
    return {KEY: names}


def decode(kind: type[T], fields: Mapping[str, Any], **known: Any) -> T:
    """`kind` with what can be read of these fields. ValueError where a field without a default cannot be read."""
    read = _read_fields(kind, fields)
    if read is BAD:
        raise ValueError(f"no {kind.__name__} can be read")
    return kind(**read, **known)


def encode(value: Any) -> Any:
    """Plain fields with the names on disk. A field that its class calls SPARSE is left out where it has its default."""
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _encode_fields(value)
    if isinstance(value, Mapping):
        return {name: encode(item) for name, item in value.items()}
    return value


def _encode_fields(value: Any) -> dict[str, Any]:
    sparse, not_on_disk = getattr(value, "SPARSE", ()), getattr(value, "NOT_ON_DISK", ())
    return {
        field.metadata.get(KEY, (field.name,))[0]: encode(getattr(value, field.name))
        for field in dataclasses.fields(value)
        if field.name not in not_on_disk
        and not (field.name in sparse and getattr(value, field.name) == _default_of(field))
    }


def _default_of(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def _read_fields(kind: Any, fields: Mapping[str, Any]) -> Any:
    read = {}
    for name, names_on_disk, reader, required in _plan(kind):
        value = BAD
        for on_disk in names_on_disk:
            if on_disk in fields:
                value = reader(fields[on_disk])
                break
        if value is not BAD:
            read[name] = value
        elif required:
            return BAD
    return read


@functools.cache
def _plan(kind: Any) -> tuple[tuple[str, tuple[str, ...], FieldReader, bool], ...]:
    """For each field: its name, its names on disk, how it is read, whether nothing can stand for it."""
    hints = typing.get_type_hints(kind, include_extras=True)
    return tuple(
        (field.name, field.metadata.get(KEY, (field.name,)), _reader(hints[field.name]), _is_required(field))
        for field in dataclasses.fields(kind)
        if field.name not in getattr(kind, "NOT_ON_DISK", ())
    )


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _reader(hint: Any) -> FieldReader:
    if hint in SIMPLE:
        return SIMPLE[hint]
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return functools.partial(_read_dataclass, hint)
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return functools.partial(_read_whole_tuple, _reader(typing.get_args(parts[0])[0]))
    if origin in (types.UnionType, typing.Union):
        return functools.partial(_read_one_of, tuple(_reader(part) for part in _keep_numbers_apart(parts)))
    if origin is tuple and parts[-1] is Ellipsis:
        return functools.partial(_read_tuple, _reader(parts[0]))
    if origin is tuple:
        return functools.partial(_read_fixed_tuple, tuple(_reader(part) for part in parts))
    if origin is Mapping:
        return functools.partial(_read_mapping, _reader(parts[1]))
    raise TypeError(f"no field of a record can be {hint}")


def _keep_numbers_apart(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Where both are possible, 1 stays a whole number and 1.0 does not become one."""
    if int in parts and float in parts:
        return (Number, *(part for part in parts if part not in (int, float)))
    return parts


def _read_text(value: Any) -> Any:
    return value if type(value) is str else BAD


def _read_bool(value: Any) -> Any:
    return value if type(value) is bool else BAD


def _read_int(value: Any) -> Any:
    if type(value) is int:
        return value if -MAX_NUMBER < value < MAX_NUMBER else BAD
    if type(value) is float and math.isfinite(value) and value.is_integer():
        return int(value)
    return BAD


def _read_float(value: Any) -> Any:
    if type(value) is float:
        return value
    return float(value) if type(value) is int and -MAX_NUMBER < value < MAX_NUMBER else BAD


def _read_number(value: Any) -> Any:
    return value if type(value) is float else _read_int(value)


def _read_none(value: Any) -> Any:
    return None if value is None else BAD


def _read_dataclass(kind: type[Any], value: Any) -> Any:
    if type(value) is not dict:
        return BAD
    read = _read_fields(kind, value)
    return BAD if read is BAD else kind(**read)


def _read_one_of(readers: tuple[FieldReader, ...], value: Any) -> Any:
    for reader in readers:
        read = reader(value)
        if read is not BAD:
            return read
    return BAD


def _read_tuple(reader: FieldReader, value: Any) -> Any:
    if type(value) is not list:
        return BAD
    return tuple(item for item in map(reader, value) if item is not BAD)


def _read_whole_tuple(reader: FieldReader, value: Any) -> Any:
    read = _read_tuple(reader, value)
    return read if read is not BAD and len(read) == len(value) else BAD


def _read_fixed_tuple(readers: tuple[FieldReader, ...], value: Any) -> Any:
    if type(value) is not list or len(value) != len(readers):
        return BAD
    read = tuple(reader(item) for reader, item in zip(readers, value, strict=True))
    return BAD if BAD in read else read


def _read_mapping(reader: FieldReader, value: Any) -> Any:
    if type(value) is not dict:
        return BAD
    read = ((str(name), reader(item)) for name, item in value.items())
    return {name: item for name, item in read if item is not BAD}


Number: Final = object()
SIMPLE: Final[Mapping[Any, FieldReader]] = {
    str: _read_text,
    bool: _read_bool,
    int: _read_int,
    float: _read_float,
    Number: _read_number,
    type(None): _read_none,
    Any: lambda value: value,
}
