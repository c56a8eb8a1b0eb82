"""How training is set up: TensorFlow's threads and devices, and the ranks it is part of."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from laststep.recorder import state
from laststep.recorder.guard import attempt


def install() -> None:
    if state.current is not None:
        state.current.at_beat.append(_record_setup)


def _record_setup() -> None:
    """At the first beat: everything is configured by then, and reading it does not delay training."""
    recorder = state.current
    if recorder is not None:
        recorder.at_beat.remove(_record_setup)
        recorder.event("setup", **_tensorflow(), **_cluster())


def _tensorflow() -> dict[str, Any]:
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is None or not hasattr(tensorflow, "config"):
        return {}
    threading = tensorflow.config.threading
    context = sys.modules.get("tensorflow.python.eager.context")
    if context is None or not getattr(context.context(), "_initialized", False):
        return {}  # imported, but something else trains: asking would initialize its devices
    gpus, _ = attempt(lambda: len(tensorflow.config.list_logical_devices("GPU")))
    return {
        "inter": threading.get_inter_op_parallelism_threads(),
        "intra": threading.get_intra_op_parallelism_threads(),
        "gpus": gpus,
    }


def _cluster() -> dict[str, Any]:
    """From TF_CONFIG as it is now: programs often set it themselves."""
    config, _ = attempt(json.loads, os.environ.get("TF_CONFIG", ""))
    if not isinstance(config, dict):
        return {}
    cluster = config.get("cluster") if isinstance(config.get("cluster"), dict) else {}
    workers = [str(address) for job in ("chief", "worker") for address in (cluster or {}).get(job, [])]
    task = config.get("task") if isinstance(config.get("task"), dict) else {}
    return {"workers": workers[:64], "task": [str((task or {}).get("type")), (task or {}).get("index")]}
