"""Replace an attribute; put back exactly that."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from laststep.recorder.guard import guard

_MISSING = object()
# (probe, owner, name, what stood in the owner itself, what we put there), oldest first
_patches: list[tuple[str, Any, str, Any, Any]] = []
_observers: dict[int, list[tuple[str, Callable[..., None]]]] = {}  # by the id of the wrapper, which _patches keeps


def replace(probe: str, owner: Any, name: str, new: Any) -> None:
    """Set owner.name, remembering the exact object that stood there (or that there was none)."""
    if any(patched is owner and patched_name == name for _, patched, patched_name, _, _ in _patches):
        return
    before = vars(owner).get(name, _MISSING)
    setattr(owner, name, new)
    _patches.append((probe, owner, name, before, new))


def restore(probe: str | None = None) -> None:
    """Put back, newest first, and only where what stands there is still ours and nobody else looks through it."""
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
    probe: str, owner: Any, name: str, observe: Callable[..., None], quick: Callable[..., bool] | None = None
) -> None:
    """Let observe(result, *args, **kwargs) see each call of owner.name once it has returned; several probes may.

    `quick` is asked first, without the guard: it must be so plain that it can't fail, for what is called in each step.
    """
    original = getattr(owner, name)
    others = _observers.get(id(original)) if _is_ours(owner, name, original) else None
    if others is not None:
        if all(who != probe for who, _ in others):
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
        if quick is None or quick(*args, **kwargs):
            for who, look in observers:
                guard(who, look, result, *args, **kwargs)
        return result

    _observers[id(wrapper)] = observers
    replace(probe, owner, name, wrapper)


def _is_ours(owner: Any, name: str, wrapper: Any) -> bool:
    return any(patched is owner and at == name and new is wrapper for _, patched, at, _, new in _patches)


def after_new(probe: str, owner: Any, observe: Callable[[Any], None]) -> None:
    """Let observe(instance) see each new instance, before its __init__: that one libraries read the signature of."""
    original = owner.__new__
    if "__new__" not in vars(owner):
        raise TypeError("a class without a __new__ of its own never forgets that it was given one")

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
    home = sys.modules.get(getattr(original, "__module__", None) or "")
    if home is not None and vars(home).get(name) is original:  # os.kill is posix.kill: pickle looks for it there
        replace(probe, home, name, wrapper)


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
