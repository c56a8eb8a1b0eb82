"""The one place where our own errors stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")

MOST_FAILURES = 3


class Unsupported(Exception):
    """This version of a library has not the door that a probe knows: a word, not a failure."""


_failures: dict[str, int] = {}
_on_failure: list[Callable[[str, Exception, bool], None]] = []
# What was swallowed, for tests: a fixture raises it again.
swallowed: list[Exception] = []


def guard(probe: str, action: Callable[..., Result], *args: Any, **kwargs: Any) -> Result | None:
    """Run our own code; an error of ours is noted and goes no further. KeyboardInterrupt and SystemExit pass."""
    if _failures.get(probe, 0) >= MOST_FAILURES:
        return None
    try:
        return action(*args, **kwargs)
    except Exception as error:
        _note(probe, error)
        return None


def attempt(action: Callable[..., Result], *args: Any) -> tuple[Result | None, str]:
    """(result, "") or (None, what went wrong): for parts of a description that may be missing."""
    try:
        return action(*args), ""
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"[:200]


def _note(probe: str, error: Exception) -> None:
    count = _failures[probe] = _failures.get(probe, 0) + 1
    if len(swallowed) < 10:
        swallowed.append(error)
    for tell in list(_on_failure):
        try:
            tell(probe, error, count >= MOST_FAILURES)
        except Exception:
            continue


def on_failure(tell: Callable[[str, Exception, bool], None]) -> None:
    """Be told of each failure: (probe, error, whether the probe is given up now)."""
    _on_failure.append(tell)


def reset() -> None:
    _failures.clear()
    _on_failure.clear()
    swallowed.clear()
