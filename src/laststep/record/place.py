"""Place: a line of source. Whether it is the user's own is recorded, never asked of the interpreter that reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from laststep.record.paths import is_installed as is_installed
from laststep.record.paths import is_users_path as is_users_path


@dataclass(frozen=True, slots=True)
class Place(Mapping[str, Any]):  # TRANSITION: a Mapping until all readers are typed
    """A line, and whether it belongs to the user's own program; None where the record does not say."""

    SPARSE: ClassVar[tuple[str, ...]] = ("text", "function", "is_users")

    file: str
    line: int
    text: str = ""
    function: str = ""
    is_users: bool | None = None

    @property
    def is_users_own(self) -> bool:
        """By the path where the record does not say."""
        return is_users_path(self.file) if self.is_users is None else self.is_users

    def __getitem__(self, name: str) -> Any:  # TRANSITION, as all below
        return {key: getattr(self, key) for key in self}[name]

    def __iter__(self) -> Iterator[str]:
        return (key for key in ("file", "line", "text", "function") if getattr(self, key))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def placed(where: Place | Mapping[str, Any] | None) -> Place | None:  # TRANSITION: until findings hold a Place
    if isinstance(where, Place) or not where:
        return where if isinstance(where, Place) else None
    text, function = str(where.get("text") or ""), str(where.get("function") or "")
    return Place(str(where.get("file", "?")), int(where.get("line") or 0), text, function)
