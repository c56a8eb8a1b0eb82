"""The libraries in use, once the host has imported them."""

from __future__ import annotations

import functools
import sys
from types import ModuleType
from typing import Any

from laststep.recorder import state
from laststep.recorder.imports import when_imported

PROBE = "versions"
# The module that each library loads last, when its version is known.
LAST_MODULES = {
    "tensorflow": "tensorflow.python.eager.polymorphic_function.polymorphic_function",
    "keras": "keras.src.models.model",
    "tf_keras": "tf_keras.src.engine.training",
}
_recorded: set[str] = set()


def install() -> None:
    for library, last in LAST_MODULES.items():
        when_imported(PROBE, last, functools.partial(_on_import, library))


def _on_import(library: str, module: ModuleType) -> None:
    if state.current is not None and library not in _recorded:
        _recorded.add(library)
        state.current.event("versions", **current_versions())
        if library == "tensorflow":
            state.current.event("build", **_build_info())


def _build_info() -> dict[str, Any]:
    """As in tf.sysconfig.get_build_info(): constants of a module that TensorFlow has loaded."""
    known = getattr(sys.modules.get("tensorflow.python.platform.build_info"), "build_info", None) or {}
    names = known.get("cuda_compute_capabilities")
    return {
        "cuda": known.get("cuda_version"),
        "cudnn": known.get("cudnn_version"),
        "with_cuda": known.get("is_cuda_build"),
        "capabilities": [str(name) for name in names] if isinstance(names, (list, tuple)) else None,
    }


def current_versions() -> dict[str, str]:
    """Versions of the libraries that the host has imported; none is imported for this."""
    found = {}
    names = {"tensorflow": "tensorflow.python.framework.versions", "keras": "keras.src.version", "tf_keras": "tf_keras"}
    for library in ("tensorflow", "keras", "tf_keras", "numpy", "jax", "torch"):
        module = sys.modules.get(names.get(library, library))
        version = getattr(module, "__version__", None)
        if isinstance(version, str):
            found[library] = version
    return found
