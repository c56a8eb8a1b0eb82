"""How often the input pipeline calls Python: a count that grows as long as the program's generator yields."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

from laststep.recorder import state
from laststep.recorder.imports import when_imported
from laststep.recorder.patch import replace

PROBE = "pipeline_calls"
MODULE = "tensorflow.python.ops.script_ops"


def install() -> None:
    when_imported(PROBE, MODULE, _count_calls)


def _count_calls(module: ModuleType) -> None:
    """TensorFlow looks up each Python function before it calls it: the lookup is counted and over by then.

    No frame of ours is on the stack of the user's function. Two threads may lose a count; that it grows is enough.
    """
    original, recorder = module.FuncRegistry.get, state.current
    if recorder is None:
        return

    @functools.wraps(original)
    def get(registry: Any, token: Any, default: Any = None) -> Any:
        recorder.pipeline_calls += 1
        return original(registry, token, default)

    replace(PROBE, module.FuncRegistry, "get", get)
