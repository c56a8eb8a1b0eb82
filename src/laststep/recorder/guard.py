"""The one place where errors of our own code are caught."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")

MAX_FAILURES = 3


class Unsupported(Exception):
    """This version of a library lacks what a probe hooks into; recorded as "unsupported", not as an error."""


_failures: dict[str, int] = {}
_failure_listeners: list[Callable[[str, Exception, bool], None]] = []
# The errors that were caught, for tests: a fixture raises them again.
swallowed: list[Exception] = []


def guard(probe: str, action: Callable[..., Result], *args: Any, **kwargs: Any) -> Result | None:
    """Run our own code; an error in it is recorded and stops here. KeyboardInterrupt and SystemExit pass through."""
    if _failures.get(probe, 0) >= MAX_FAILURES:
        return None
    try:
        return action(*args, **kwargs)
    except Exception as error:
        _note(probe, error)
        return None


def attempt(action: Callable[..., Result], *args: Any) -> tuple[Result | None, str]:
    """(result, "") or (None, the error as text): for optional parts of a description."""
    try:
        return action(*args), ""
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"[:200]


def _note(probe: str, error: Exception) -> None:
    count = _failures[probe] = _failures.get(probe, 0) + 1
    if len(swallowed) < 10:
        swallowed.append(error)
    for listener in list(_failure_listeners):
        try:
            listener(probe, error, count >= MAX_FAILURES)
        except Exception:
            continue


def on_failure(listener: Callable[[str, Exception, bool], None]) -> None:
    """Call listener(probe, error, whether the probe is removed now) after each failure."""
    _failure_listeners.append(listener)


def reset() -> None:
    _failures.clear()
    _failure_listeners.clear()
    swallowed.clear()
