"""Events that only a bare console log has: the log itself, and counters that are not epochs of Keras."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

from laststep.record.decode import key
from laststep.record.event import Event

SOURCE: Final = "log"  # of all events that are read from one


@dataclass(frozen=True, slots=True, kw_only=True)
class Log(Event):
    """A console log was read, and there is no recording: the file, its size, how many runs it holds."""

    KIND: ClassVar[str] = "log"
    SPARSE: ClassVar[tuple[str, ...]] = ("is_reversed", "is_kept")

    file: str = ""
    lines: int = 0
    bytes: int = 0
    runs: int = 1  # in the file; the events are those of the last one
    binary_lines: int = field(default=0, metadata=key("rubbish"))  # left out
    is_reversed: bool = field(default=False, metadata=key("reversed"))  # its newest line comes first
    is_kept: bool = False  # the console of a run that laststep launched, which it kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress(Event):
    """A bar or a counter on the console, and whether it had moved on."""

    KIND: ClassVar[str] = "progress"

    done: int | None = None  # None where a line has metrics and no counter
    moved: bool = False  # more than the time before
    metrics: Mapping[str, float] = field(default_factory=dict)
    at_line: int = 0
