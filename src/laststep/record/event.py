"""Event: one fact, when it happened, who wrote it. Each kind is a class of its own in `events/`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One fact. Nothing is concluded here."""

    KIND: ClassVar[str] = ""  # its name on disk
    SPARSE: ClassVar[tuple[str, ...]] = ()  # the fields that are not written where they have their default
    NOT_ON_DISK: ClassVar[tuple[str, ...]] = ("time", "source", "rank", "raw")  # around the fields, not among them

    time: float = 0.0
    source: str = ""
    rank: int = 0
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)  # TRANSITION: to be removed

    @property
    def kind(self) -> str:  # TRANSITION
        return self.KIND

    def get(self, name: str, default: Any = None) -> Any:  # TRANSITION
        return self.raw.get(name, default)
