"""Only in a side run (`laststep tune`, `prove`): the first fit becomes an experiment; nothing follows."""

from __future__ import annotations

import functools
import importlib
import os
import sys
import time
from types import ModuleType
from typing import Any

from laststep.recorder import patch, state
from laststep.recorder.frames import users_place
from laststep.recorder.guard import guard
from laststep.recorder.imports import when_imported

PROBE = "side_run"
EXPERIMENTS = {  # by the verb of the command: module and class
    "tune": ("laststep.recorder.experiments.tune.tune_experiment", "TuneExperiment"),
    "prove": ("laststep.recorder.experiments.prove.prove_experiment", "ProveExperiment"),
}
TRAINERS = {
    "keras.src.backend.tensorflow.trainer": "TensorFlowTrainer",
    "tf_keras.src.engine.training": "Model",
}
UNKNOWN_TRAINERS = {"keras.src.backend.jax.trainer": "JAXTrainer", "keras.src.backend.torch.trainer": "TorchTrainer"}
HAND_STEPS = 3  # seen before anybody says that this program trains by hand
SHORTEST = 15.0  # seconds that the measurement gets, however long the program took to get there
_hand_steps = 0


def install() -> None:
    recorder = state.current
    verb = next((verb for verb in EXPERIMENTS if recorder is not None and verb in recorder.options), None)
    if recorder is None or verb is None:
        return
    recorder.hand_step = _hand_step  # type: ignore[method-assign]
    if verb == "tune":
        from laststep.recorder.experiments.tune import calls  # not in a usual run: there, nothing of it is even loaded

        calls.watch()
    ends = time.time() + float(recorder.options["seconds"])
    for module, name in TRAINERS.items():
        when_imported(PROBE, module, functools.partial(_watch, name, verb, ends))
    for module, name in UNKNOWN_TRAINERS.items():
        when_imported(PROBE, module, functools.partial(_refuse, name))


def _watch(name: str, verb: str, ends: float, module: ModuleType) -> None:
    module_name, class_name = EXPERIMENTS[verb]
    experiment = getattr(importlib.import_module(module_name), class_name)
    kind = getattr(module, name)
    original = kind.fit

    @functools.wraps(original)
    def fit(model: Any, *args: Any, **kwargs: Any) -> Any:
        where = users_place(sys._getframe(1))
        patch.restore("hand_loop")  # Keras's own steps, from here on
        until = max(ends, time.time() + SHORTEST)
        guard(PROBE, lambda: experiment(original, model, args, kwargs, where, until).run())
        leave()

    patch.replace(PROBE, kind, "fit", fit)


def _refuse(name: str, module: ModuleType) -> None:
    def fit(model: Any, *args: Any, **kwargs: Any) -> Any:
        backend = module.__name__.split(".")[3]
        _unsupported(f"Keras trains with {backend} here, and only TensorFlow is known", users_place(sys._getframe(1)))

    patch.replace(PROBE, getattr(module, name), "fit", fit)


def _hand_step(loss: float = 0.0) -> None:
    global _hand_steps
    _hand_steps += 1
    if _hand_steps >= HAND_STEPS:
        reason = "it trains in a loop of its own, not with fit, and such a loop can't be entered from outside"
        _unsupported(reason, users_place(sys._getframe(1)))


def _unsupported(reason: str, where: Any) -> None:
    if state.current is not None:
        state.current.event("side-run", state="unsupported", because=reason, where=where)
    leave()


def leave() -> None:
    """Nothing of the program runs any more: no line after fit, no atexit, nothing is saved."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
