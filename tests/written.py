"""Events and samples as they are read from disk: from their plain fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from laststep.record.event import Event
from laststep.record.events import decode_event
from laststep.record.sample import Sample, decode_sample


def written(time: float, kind: str, fields: Mapping[str, Any], source: str = "", rank: int = 0) -> Event:
    event = decode_event(kind, fields, time=time, source=source, rank=rank)
    assert event is not None, f"there is no kind {kind}"
    return event


def sample(t: float, **fields: Any) -> Sample:
    return decode_sample({"t": t, **fields})
