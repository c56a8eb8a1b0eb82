"""TensorFlow's own profiler over a few steps, if `laststep profile` requests it; otherwise nothing."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from laststep.recorder import patch, state
from laststep.recorder.guard import Unsupported, attempt, guard

PROBE = "profiler"
FOLDER = "profile"  # in the run folder; TensorBoard can open it
PROFILER_MODULE = "tensorflow.python.profiler.profiler_v2"
MODEL_CLASSES = {"keras.src.models.model": "Model", "tf_keras.src.engine.training": "Model"}
# The sublayers of these are Keras's own.
KERAS_LAYER_MODULES = ("keras.src.layers.", "tf_keras.src.layers.", "keras.src.legacy.")
MAX_MODELS = 20
MAX_LAYERS = 1500
MAX_DEPTH = 20
MAX_STEPS = 1000


def install() -> None:
    recorder = state.current
    if recorder is not None and "profile" in recorder.options:
        after, _, steps = recorder.options["profile"].partition(":")
        recorder.at_step_end.append(Profiler(recorder, int(after), int(steps)).step)


class Profiler:
    """Starts at the end of a step and stops at the end of a later one. Keras may report steps from several threads."""

    def __init__(self, recorder: state.Recorder, after: int, wanted: int) -> None:
        self._recorder = recorder
        self._after = after
        self._wanted = wanted
        self._lock = threading.RLock()
        self._session: Any = None
        self._was_started = False
        self._began = 0.0
        self._first = 0
        self._steps: list[tuple[int, float, float]] = []

    def step(self, number: int, seconds: float, now: float) -> None:
        if self._session is not None or not self._was_started:
            guard(PROBE, self._step, number, seconds, now)

    def _step(self, number: int, seconds: float, now: float) -> None:
        with self._lock:
            if self._session is not None:
                self._count(number, seconds, now)
            elif not self._was_started and number >= self._after:
                self._was_started = True
                self._start(number)

    def _start(self, number: int) -> None:
        module = sys.modules.get(PROFILER_MODULE)
        if module is None:
            raise Unsupported(
                "the program does not use TensorFlow, whose profiler is the only one that laststep supports"
            )
        sessions = module._pywrap_profiler
        session = sessions.ProfilerSession()
        _, problem = attempt(session.start, os.path.join(self._recorder.folder, FOLDER), {})
        if problem:
            raise Unsupported(f"TensorFlow's profiler could not start: {problem}")
        self._session, self._first, self._began = session, number, time.time()
        # A process can have one session. The program's own has priority.
        patch.before(PROBE, sessions, "ProfilerSession", lambda *args: self._stop("the program began a profile itself"))
        atexit.register(guard, PROBE, self._stop, "the program ended")
        self._recorder.event("profile", state="began", after=number)

    def _count(self, number: int, seconds: float, now: float) -> None:
        began = max(self._began, now - seconds)  # the first step began while the profiler was starting
        if len(self._steps) < MAX_STEPS and number > self._first:
            self._steps.append((number, round(began, 6), round(now, 6)))
        if number - self._first >= self._wanted:
            self._stop("")

    def _stop(self, because: str) -> None:
        with self._lock:
            session, self._session = self._session, None
            if session is None or os.getpid() != self._recorder.pid:
                return
            patch.restore(PROBE)
            _, problem = attempt(session.export_to_tb)
            layers, optimizers = attempt(_describe_models)[0] or ([], [])
            self._recorder.event(
                "profile",
                state="done" if not problem else "lost",
                because=because or problem,
                after=self._first,
                wanted=self._wanted,
                steps=self._steps,
                layers=layers,
                optimizers=optimizers,
            )


def _describe_models() -> tuple[list[tuple[int, str]], list[str]]:
    """All models: their layers as rows (position of the parent or -1, name), and the names of their optimizers."""
    rows: list[tuple[int, str]] = []
    optimizers: set[str] = set()
    for model in _models():
        _add_layer(model, -1, rows, 0)
        name = getattr(getattr(model, "optimizer", None), "name", None)
        if isinstance(name, str):
            optimizers.add(name[:100])
    return rows, sorted(optimizers)


def _models() -> list[Any]:
    """The outermost models of the program; a hand-written loop does not show which one it trains."""
    kinds = tuple(getattr(sys.modules[name], kind) for name, kind in MODEL_CLASSES.items() if name in sys.modules)
    # By the bases of the type: isinstance could call code of the program.
    objects = gc.get_objects() if kinds else []
    models = {kind for kind in set(map(type, objects)) if any(base in kinds for base in kind.__mro__)}
    found = [candidate for candidate in objects if type(candidate) in models][:MAX_MODELS]
    inner = {id(part) for model in found for part in _parts(model)}
    return [model for model in found if id(model) not in inner]


def _parts(layer: Any) -> Iterator[Any]:
    return iter(layer._flatten_layers(include_self=False, recursive=False))


def _add_layer(layer: Any, parent: int, rows: list[tuple[int, str]], depth: int) -> None:
    if len(rows) >= MAX_LAYERS or depth > MAX_DEPTH:
        return
    rows.append((parent, str(layer.name)[:100]))
    here = len(rows) - 1
    if not type(layer).__module__.startswith(KERAS_LAYER_MODULES):
        for part in _parts(layer):
            _add_layer(part, here, rows, depth + 1)
