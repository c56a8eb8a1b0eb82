"""Event: one fact, when it happened, who wrote it. Each kind is a class of its own in `events/`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
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
        return (self.raw or _as_written(self)).get(name, default)


def _as_written(event: Event) -> dict[str, Any]:  # TRANSITION, as below: for readers of plain fields
    """Of an event that was made by its constructor."""
    known = {each.name: each for each in fields(event) if each.name not in event.NOT_ON_DISK}
    return {
        each.metadata.get("key", (name,))[-1]: _plain(getattr(event, name))
        for name, each in known.items()
        if getattr(event, name) not in (None, "", (), {})
    }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, (type, Mapping)):
        return {each.metadata.get("key", (each.name,))[-1]: _plain(getattr(value, each.name)) for each in fields(value)}
    return value
