"""Event: one fact, when it happened, who wrote it. Each kind is a class of its own in `events/`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One fact. Nothing is concluded here."""

    KIND: ClassVar[str] = ""  # its name on disk
    SPARSE: ClassVar[tuple[str, ...]] = ()  # the fields that are not written where they have their default
    NOT_ON_DISK: ClassVar[tuple[str, ...]] = ("time", "source", "rank")  # around the fields, not among them

    time: float = 0.0
    source: str = ""
    rank: int = 0
