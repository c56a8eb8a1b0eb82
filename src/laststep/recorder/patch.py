"""Replace an attribute, and restore exactly what was there."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from laststep.recorder.guard import guard

_MISSING = object()
# (probe, owner, name, the owner's own attribute before or _MISSING, our replacement), oldest first
_patches: list[tuple[str, Any, str, Any, Any]] = []
# By the id of the wrapper, which _patches keeps alive.
_observers: dict[int, list[tuple[str, Callable[..., None]]]] = {}


def replace(probe: str, owner: Any, name: str, new: Any) -> None:
    """Set owner.name and remember the exact object that was there (or that there was none)."""
    if any(patched is owner and patched_name == name for _, patched, patched_name, _, _ in _patches):
        return
    before = vars(owner).get(name, _MISSING)
    setattr(owner, name, new)
    _patches.append((probe, owner, name, before, new))


def restore(probe: str | None = None) -> None:
    """Restore, newest first, but only if our object is still there and no other probe observes through it."""
    for entry in reversed(list(_patches)):
        owner_probe, owner, name, before, new = entry
        observers = _observers.get(id(new), [])
        observers[:] = [one for one in observers if probe is not None and one[0] != probe]
        if observers or (probe is not None and owner_probe != probe):
            continue
        _observers.pop(id(new), None)
        _patches.remove(entry)
        if vars(owner).get(name) is not new:
            continue
        if before is _MISSING:
            delattr(owner, name)
        else:
            setattr(owner, name, before)


def after(
    probe: str, owner: Any, name: str, observe: Callable[..., None], is_relevant: Callable[..., bool] | None = None
) -> None:
    """Call observe(result, *args, **kwargs) after each call of owner.name has returned; several probes may do so.

    `is_relevant` is called first, outside the guard, for functions that are called in each step: it must not fail.
    """
    original = getattr(owner, name)
    others = _observers.get(id(original)) if _is_ours(owner, name, original) else None
    if others is not None:
        if all(observing_probe != probe for observing_probe, _ in others):
            others.append((probe, observe))
        return
    observers = [(probe, observe)]

    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            result = original(*args, **kwargs)
        except BaseException as error:
            forget_frame(error)
            raise
        if is_relevant is None or is_relevant(*args, **kwargs):
            for observing_probe, observer in observers:
                guard(observing_probe, observer, result, *args, **kwargs)
        return result

    _observers[id(wrapper)] = observers
    replace(probe, owner, name, wrapper)


def _is_ours(owner: Any, name: str, wrapper: Any) -> bool:
    return any(patched is owner and other == name and new is wrapper for _, patched, other, _, new in _patches)


def after_new(probe: str, owner: Any, observe: Callable[[Any], None]) -> None:
    """Call observe(instance) for each new instance, before __init__: libraries inspect the signature of __init__."""
    original = owner.__new__
    if "__new__" not in vars(owner):
        raise TypeError("a class without a __new__ of its own keeps the one that it was given")

    @functools.wraps(original)
    def wrapper(kind: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            instance = original(kind, *args, **kwargs)
        except BaseException as error:
            forget_frame(error)
            raise
        guard(probe, observe, instance)
        return instance

    replace(probe, owner, "__new__", staticmethod(wrapper))


def before(probe: str, owner: Any, name: str, observe: Callable[..., None]) -> None:
    """Call observe(*args, **kwargs) before each call of owner.name."""
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
    home = sys.modules.get(getattr(original, "__module__", None) or "")
    if home is not None and vars(home).get(name) is original:  # os.kill is posix.kill, and pickle looks it up there
        replace(probe, home, name, wrapper)


def around(probe: str, owner: Any, name: str, enter: Callable[[], None], leave: Callable[[], None]) -> None:
    """Call enter() before and leave() after each call of owner.name, however it ends."""
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
    """Remove our own frame from the traceback. A bare `raise` adds none; on Python 3.10 one line of it remains."""
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next
