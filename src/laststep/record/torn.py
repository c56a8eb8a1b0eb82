"""A record may be torn, or come from a stranger: each field in the form that it should have, or left out."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

from laststep.record.event import Event

Form = Callable[[Any], Any]  # gives what can be read of a value; None where that is nothing
Forms = Mapping[str, Form]


def tidy(told: Any, forms: Forms) -> dict[str, Any]:
    """What was told, each field in its form; a field without one is left as it is."""
    held = {str(name): forms[name](value) if name in forms else value for name, value in table(told).items()}
    return {name: value for name, value in held.items() if value is not None}


def whole(forms: Forms) -> Form:
    """A table with each of these fields, empty where nothing can be read."""
    return lambda value: tidy({**dict.fromkeys(forms), **table(value)}, forms)


def tidied(event: Event, forms: Forms) -> Event:
    return dataclasses.replace(event, raw=whole(forms)(event.raw))


def number(value: Any) -> float:
    """NaN for what is none."""
    return float(value) if is_number(value) else math.nan


def numbers(told: Mapping[str, Any], *names: str) -> tuple[float, ...]:
    """These fields of it, each NaN for what is none."""
    return tuple(number(told.get(name)) for name in names)


def is_number(value: Any) -> bool:
    """A whole number may have any number of digits, and not fit into a float."""
    return isinstance(value, float) or (type(value) is int and abs(value) < 10**300)


def figure(value: Any) -> float | int | None:
    return value if is_number(value) else None


def count(value: Any) -> int:
    return int(value) if math.isfinite(number(value)) else 0


def table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def place(value: Any) -> dict[str, Any] | None:
    return table(value) or None


def entries(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def names(value: Any) -> list[str]:
    return [str(item) for item in entries(value)]


def figures(value: Any) -> list[float]:
    return [float(item) for item in entries(value) if is_number(item)]


def figures_by_name(value: Any) -> dict[str, float]:
    return {str(name): float(item) for name, item in table(value).items() if is_number(item)}


def shape(value: Any) -> list[int] | None:
    return value if isinstance(value, list) and all(type(size) is int and size >= 0 for size in value) else None


def each(form: Form, *fields: str) -> dict[str, Form]:
    return dict.fromkeys(fields, form)


def rows(forms: Forms) -> Form:
    """A list of tables."""
    return lambda value: [tidy(item, forms) for item in entries(value) if isinstance(item, dict)]


def tables(forms: Forms) -> Form:
    """Tables by their names."""
    return lambda value: {str(n): tidy(item, forms) for n, item in table(value).items() if isinstance(item, dict)}
