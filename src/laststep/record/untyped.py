"""TRANSITION: an event from a kind and plain fields, for code that is not typed yet. To be removed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from laststep.record.event import Event
from laststep.record.events import decode_event


def untyped(time: float, kind: str, data: Mapping[str, Any], source: str = "", rank: int = 0) -> Event:
    event = decode_event(kind, data, time=time, source=source, rank=rank)
    if event is None:
        raise ValueError(f"no kind {kind}")
    return event
