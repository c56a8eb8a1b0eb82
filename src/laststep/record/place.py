"""Place: a line of source. Whether it is the user's own is recorded, never asked of the interpreter that reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# Any Python's standard library and packages: the record may come from another machine.
_INSTALLED = re.compile(
    r"[/\\](?:lib(?:64)?[/\\]python[23]\.\d+|site-packages|dist-packages)[/\\]|\\[Ll]ib\\(?!.*\\(?:src|code)\\)"
)
_FRAMEWORKS = re.compile(
    r"[/\\](?:tensorflow[/\\]python|(?:tf_)?keras[/\\]src|numpy|absl|h5py|jax|torch|ml_dtypes|optree|wrapt)[/\\]"
)
_WITHOUT_FILE = ("<ipython-input", "<string>")  # of what has no file, only this is the user's


@dataclass(frozen=True, slots=True)
class Place(Mapping[str, Any]):  # TRANSITION: a Mapping until all readers are typed
    """A line, and whether it belongs to the user's own program; None where the record does not say."""

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


def is_installed(file: str) -> bool:
    """By its path alone: it lies among a Python's installed packages."""
    return bool(_INSTALLED.search(file))


def is_users_path(file: str) -> bool:
    """By its path alone, for records that do not say more: no library's file, nor Python's or ours."""
    if file.startswith("<") or "__autograph_generated_file" in file:
        return file.startswith(_WITHOUT_FILE)
    return not (_INSTALLED.search(file) or _FRAMEWORKS.search(file))
