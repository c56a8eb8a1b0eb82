"""The libraries in use, once the host has imported them."""

from __future__ import annotations

import functools
import sys
from types import ModuleType

from laststep.recorder import state
from laststep.recorder.imports import when_imported

PROBE = "versions"
# Modules that each library loads last, when its version is known.
LIBRARIES = {
    "tensorflow": "tensorflow.python.eager.polymorphic_function.polymorphic_function",
    "keras": "keras.src.models.model",
    "tf_keras": "tf_keras.src.engine.training",
}
_told: set[str] = set()


def install() -> None:
    for library, last in LIBRARIES.items():
        when_imported(PROBE, last, functools.partial(_imported, library))


def _imported(library: str, module: ModuleType) -> None:
    if state.current is not None and library not in _told:
        _told.add(library)
        state.current.event("versions", **current())


def current() -> dict[str, str]:
    """Versions of what the host has imported; nothing is imported for it."""
    found = {}
    names = {"tensorflow": "tensorflow.python.framework.versions", "keras": "keras.src.version", "tf_keras": "tf_keras"}
    for library in ("tensorflow", "keras", "tf_keras", "numpy", "jax", "torch"):
        module = sys.modules.get(names.get(library, library))
        version = getattr(module, "__version__", None)
        if isinstance(version, str):
            found[library] = version
    return found
