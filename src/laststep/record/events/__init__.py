"""One frozen dataclass per kind of event, grouped by who writes it: the schema, its documentation, the closed list."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from laststep.record.decode import decode
from laststep.record.event import Event
from laststep.record.events import experiments, logs, network, numbers, process, stacks, supervisor, training

_MODULES = (supervisor, stacks, logs, process, training, numbers, network, experiments)
KINDS: Mapping[str, type[Event]] = MappingProxyType(
    {
        value.KIND: value
        for module in _MODULES
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Event) and value.KIND and value.__module__ == module.__name__
    }
)


def decode_event(kind: str, fields: Mapping[str, Any], *, time: float, source: str = "", rank: int = 0) -> Event | None:
    """The event in a line of a journal; None for a kind that this version does not know."""
    known = KINDS.get(kind)
    return decode(known, fields, time=time, source=source, rank=rank) if known is not None else None
