"""Errors of our own stop in the guard; patches are restored exactly, newest first, only if still ours."""

from __future__ import annotations

import sys
import traceback
import types
from collections.abc import Iterator

import pytest

from laststep.recorder import guard as guards
from laststep.recorder import patch
from laststep.recorder.guard import guard


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    guards.reset()
    yield
    patch.restore()
    guards.reset()


def boom(*args: object) -> None:
    raise RuntimeError("ours")


def test_guard_swallows_exceptions_and_keeps_them_for_tests() -> None:
    assert guard("p", boom) is None
    assert [str(error) for error in guards.swallowed] == ["ours"]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_guard_never_swallows_what_is_for_the_host(kind: type[BaseException]) -> None:
    def leave() -> None:
        raise kind

    with pytest.raises(kind):
        guard("p", leave)


def test_three_failures_and_the_probe_is_given_up() -> None:
    reported = []
    guards.on_failure(lambda probe, error, is_removed: reported.append((probe, is_removed)))
    for _ in range(5):
        guard("p", boom)
    assert reported == [("p", False), ("p", False), ("p", True)]
    assert guard("other", lambda: 7) == 7


def make_module() -> types.ModuleType:
    module = types.ModuleType("hosts")

    def call(value: int, *, twice: bool = False) -> int:
        """The host's."""
        if value < 0:
            raise ValueError("negative")
        return value * (2 if twice else 1)

    module.call = call  # type: ignore[attr-defined]
    return module


def test_result_signature_and_docs_pass_through() -> None:
    import inspect

    module = make_module()
    before = inspect.signature(module.call)
    seen: list[object] = []
    patch.after("p", module, "call", lambda result, *args, **kwargs: seen.append((result, args, kwargs)))
    assert module.call(3, twice=True) == 6
    assert seen == [(6, (3,), {"twice": True})]
    assert inspect.signature(module.call) == before
    assert module.call.__doc__ == "The host's."


def test_the_hosts_exception_passes_untouched_and_without_a_frame_of_ours() -> None:
    module = make_module()
    patch.after("p", module, "call", boom)
    patch.before("p", module, "call", boom)
    with pytest.raises(ValueError, match="negative") as caught:
        module.call(-1)
    files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    if sys.version_info >= (3, 11):  # before, a bare raise adds our line again
        assert patch.__file__ not in files
    assert caught.value.__context__ is None


def test_an_error_in_our_observer_does_not_reach_the_host() -> None:
    module = make_module()
    patch.after("p", module, "call", boom)
    assert module.call(1) == 1
    assert len(guards.swallowed) == 1


def test_restore_puts_back_the_exact_object() -> None:
    module = make_module()
    original = module.call
    patch.after("p", module, "call", lambda *_: None)
    assert module.call is not original
    patch.restore("p")
    assert module.call is original


def test_restore_leaves_what_is_no_longer_ours() -> None:
    module = make_module()
    patch.after("p", module, "call", lambda *_: None)
    theirs = lambda value: "theirs"  # noqa: E731
    module.call = theirs
    patch.restore("p")
    assert module.call is theirs


def test_an_attribute_that_was_inherited_is_deleted_again() -> None:
    class Base:
        def method(self) -> int:
            return 1

    class Child(Base):
        pass

    patch.after("p", Child, "method", lambda *_: None)
    assert "method" in vars(Child)
    patch.restore("p")
    assert "method" not in vars(Child)


def test_patched_once_only() -> None:
    module = make_module()
    seen: list[object] = []
    for _ in range(3):
        patch.after("p", module, "call", lambda *_: seen.append(1))
    module.call(1)
    assert len(seen) == 1


def test_a_class_without_a_new_of_its_own_is_left_alone() -> None:
    class Plain:
        def __init__(self, value: int) -> None:
            self.value = value

    with pytest.raises(TypeError):
        patch.after_new("p", Plain, lambda _: None)
    assert Plain(3).value == 3
