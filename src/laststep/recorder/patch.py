"""Replace an attribute; put back exactly that."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from laststep.recorder.guard import guard

_MISSING = object()
# (probe, owner, name, what stood in the owner itself, what we put there), oldest first
_patches: list[tuple[str, Any, str, Any, Any]] = []


def replace(probe: str, owner: Any, name: str, new: Any) -> None:
    """Set owner.name, remembering the exact object that stood there (or that there was none)."""
    if any(patched is owner and patched_name == name for _, patched, patched_name, _, _ in _patches):
        return
    before = vars(owner).get(name, _MISSING)
    setattr(owner, name, new)
    _patches.append((probe, owner, name, before, new))


def restore(probe: str | None = None) -> None:
    """Put back, newest first, and only where what stands there is still ours."""
    for entry in reversed(list(_patches)):
        owner_probe, owner, name, before, new = entry
        if probe is not None and owner_probe != probe:
            continue
        _patches.remove(entry)
        if vars(owner).get(name) is not new:
            continue
        if before is _MISSING:
            delattr(owner, name)
        else:
            setattr(owner, name, before)


def after(probe: str, owner: Any, name: str, observe: Callable[..., None]) -> None:
    """Let observe(result, *args, **kwargs) see each call of owner.name once it has returned."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            result = original(*args, **kwargs)
        except BaseException as error:
            forget_frame(error)
            raise
        guard(probe, observe, result, *args, **kwargs)
        return result

    replace(probe, owner, name, wrapper)


def before(probe: str, owner: Any, name: str, observe: Callable[..., None]) -> None:
    """Let observe(*args, **kwargs) see each call of owner.name before it happens."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        guard(probe, observe, *args, **kwargs)
        try:
            return original(*args, **kwargs)
        except BaseException as error:
            forget_frame(error)
            raise

    replace(probe, owner, name, wrapper)


def around(probe: str, owner: Any, name: str, enter: Callable[[], None], leave: Callable[[], None]) -> None:
    """Let enter() and leave() bracket each call of owner.name, however it ends."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        guard(probe, enter)
        try:
            return original(*args, **kwargs)
        except BaseException as error:
            forget_frame(error)
            raise
        finally:
            guard(probe, leave)

    replace(probe, owner, name, wrapper)


def forget_frame(error: BaseException) -> None:
    """Take our own frame off the traceback (a bare `raise` adds none; on 3.10 it stays, one line long)."""
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next
