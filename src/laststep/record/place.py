"""Place: a line of source. Whether it is the user's own is recorded, never asked of the interpreter that reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from laststep.record.paths import is_users_path


@dataclass(frozen=True, slots=True)
class Place:
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
