"""Only in a side run (`laststep tune`, `prove`): the first fit becomes an experiment; then the process ends."""

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
UNSUPPORTED_TRAINERS = {
    "keras.src.backend.jax.trainer": "JAXTrainer",
    "keras.src.backend.torch.trainer": "TorchTrainer",
}
MIN_HAND_STEPS = 3  # before reporting that this program has a hand-written loop
MIN_EXPERIMENT_SECONDS = 15.0  # for the experiment, however long the program took to reach its fit
_hand_steps = 0


def install() -> None:
    recorder = state.current
    verb = next((verb for verb in EXPERIMENTS if recorder is not None and verb in recorder.options), None)
    if recorder is None or verb is None:
        return
    recorder.hand_step = _on_hand_step  # type: ignore[method-assign]
    if verb == "tune":
        from laststep.recorder.experiments.tune import calls  # loaded in a side run only

        calls.patch_datasets()
    ends = time.time() + float(recorder.options["seconds"])
    for module, name in TRAINERS.items():
        when_imported(PROBE, module, functools.partial(_replace_fit, name, verb, ends))
    for module, name in UNSUPPORTED_TRAINERS.items():
        when_imported(PROBE, module, functools.partial(_refuse_fit, name))


def _replace_fit(name: str, verb: str, ends: float, module: ModuleType) -> None:
    module_name, class_name = EXPERIMENTS[verb]
    experiment = getattr(importlib.import_module(module_name), class_name)
    kind = getattr(module, name)
    original = kind.fit

    @functools.wraps(original)
    def fit(model: Any, *args: Any, **kwargs: Any) -> Any:
        where = users_place(sys._getframe(1))
        patch.restore("hand_loop")  # from here on, the steps are Keras's
        until = max(ends, time.time() + MIN_EXPERIMENT_SECONDS)
        guard(PROBE, lambda: experiment(original, model, args, kwargs, where, until).run())
        end_process()

    patch.replace(PROBE, kind, "fit", fit)


def _refuse_fit(name: str, module: ModuleType) -> None:
    def fit(model: Any, *args: Any, **kwargs: Any) -> Any:
        backend = module.__name__.split(".")[3]
        _end_unsupported(
            f"Keras uses the {backend} backend, and only TensorFlow is supported", users_place(sys._getframe(1))
        )

    patch.replace(PROBE, getattr(module, name), "fit", fit)


def _on_hand_step(loss: float = 0.0) -> None:
    global _hand_steps
    _hand_steps += 1
    if _hand_steps >= MIN_HAND_STEPS:
        reason = "it trains in a loop of its own, not with fit, and such a loop can't be entered from outside"
        _end_unsupported(reason, users_place(sys._getframe(1)))


def _end_unsupported(reason: str, where: Any) -> None:
    if state.current is not None:
        state.current.event("side-run", state="unsupported", because=reason, where=where)
    end_process()


def end_process() -> None:
    """End the process at once: no line after fit, no atexit function, nothing is saved."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
