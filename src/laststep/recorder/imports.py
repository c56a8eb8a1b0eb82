"""Run a probe when the host imports its library, never before and never instead."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from laststep.recorder.guard import Unsupported, guard
from laststep.recorder.patch import forget_frame

Ready = Callable[[ModuleType], None]


class Finder:
    """Finds nothing itself: lets the other finders find, and is told when the module is ready."""

    def __init__(self) -> None:
        self._wanted: dict[str, list[tuple[str, Ready]]] = {}

    def want(self, probe: str, name: str, ready: Ready) -> None:
        module = sys.modules.get(name)
        if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
            guard(probe, _tell, ready, module)
            return
        self._wanted.setdefault(name, []).append((probe, ready))

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        waiting = self._wanted.pop(name, None)
        if waiting is None:
            return None
        spec = self._find_elsewhere(name, path, target)
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return spec
        guard("imports", self._tell_when_loaded, spec.loader, waiting)
        return spec

    def _find_elsewhere(self, name: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
        for finder in list(sys.meta_path):
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return spec
        return None

    def _tell_when_loaded(self, loader: Any, waiting: list[tuple[str, Ready]]) -> None:
        original = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            try:
                original(module)
            except BaseException as error:
                forget_frame(error)
                raise
            finally:
                # On the one loader object of this one module, and gone as soon as it has been used.
                vars(loader).pop("exec_module", None)
            for probe, ready in waiting:
                guard(probe, _tell, ready, module)

        loader.exec_module = exec_module


def _tell(ready: Ready, module: ModuleType) -> None:
    try:
        ready(module)
    except AttributeError as error:
        raise Unsupported(f"this version of {module.__name__.split('.')[0]} is not known: {error}") from error


finder = Finder()


def when_imported(probe: str, name: str, ready: Ready) -> None:
    """Call ready(module) once the host has imported it (at once if it already has)."""
    if finder not in sys.meta_path:
        sys.meta_path.insert(0, finder)
    finder.want(probe, name, ready)


def remove() -> None:
    if finder in sys.meta_path:
        sys.meta_path.remove(finder)
