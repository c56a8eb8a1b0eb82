"""Call a probe's hook when the host imports a library; never import the library ourselves."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from laststep.recorder.guard import Unsupported, guard
from laststep.recorder.patch import forget_frame

Hook = Callable[[ModuleType], None]


class Finder:
    """A meta path finder that delegates to the others and is notified when a module has been loaded."""

    def __init__(self) -> None:
        self._hooks: dict[str, list[tuple[str, Hook]]] = {}

    def add(self, probe: str, name: str, hook: Hook) -> None:
        module = sys.modules.get(name)
        if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
            guard(probe, _call, hook, module)
            return
        self._hooks.setdefault(name, []).append((probe, hook))

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        hooks = self._hooks.pop(name, None)
        if hooks is None:
            return None
        spec = self._find_with_others(name, path, target)
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return spec
        guard("imports", self._call_when_loaded, spec.loader, hooks)
        return spec

    def _find_with_others(self, name: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
        for finder in list(sys.meta_path):
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return spec
        return None

    def _call_when_loaded(self, loader: Any, hooks: list[tuple[str, Hook]]) -> None:
        original = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            try:
                original(module)
            except BaseException as error:
                forget_frame(error)
                raise
            finally:
                # Set on the loader object of this one module, and removed after its first use.
                vars(loader).pop("exec_module", None)
            for probe, hook in hooks:
                guard(probe, _call, hook, module)

        loader.exec_module = exec_module


def _call(hook: Hook, module: ModuleType) -> None:
    try:
        hook(module)
    except AttributeError as error:
        raise Unsupported(f"this version of {module.__name__.split('.')[0]} is not known: {error}") from error


finder = Finder()


def when_imported(probe: str, name: str, hook: Hook) -> None:
    """Call hook(module) once the host has imported the module; immediately if it already has."""
    if finder not in sys.meta_path:
        sys.meta_path.insert(0, finder)
    finder.add(probe, name, hook)


def remove() -> None:
    if finder in sys.meta_path:
        sys.meta_path.remove(finder)
