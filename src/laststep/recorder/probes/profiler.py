"""TensorFlow's own profiler over a few steps, where `laststep profile` asked for it; otherwise nothing."""

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
FOLDER = "profile"  # in the run folder; TensorBoard opens it
MODULE = "tensorflow.python.profiler.profiler_v2"
MODELS = {"keras.src.models.model": "Model", "tf_keras.src.engine.training": "Model"}
THEIR_LAYERS = ("keras.src.layers.", "tf_keras.src.layers.", "keras.src.legacy.")  # their parts are Keras's own
MOST_MODELS = 20
MOST_LAYERS = 1500
MOST_DEPTH = 20
MOST_STEPS = 1000


def install() -> None:
    recorder = state.current
    if recorder is not None and "profile" in recorder.options:
        after, _, steps = recorder.options["profile"].partition(":")
        recorder.at_step_end.append(Profiler(recorder, int(after), int(steps)).step)


class Profiler:
    """Begins at the end of a step, ends at the end of a later one. Keras may tell of steps from several threads."""

    def __init__(self, recorder: state.Recorder, after: int, wanted: int) -> None:
        self._recorder = recorder
        self._after = after
        self._wanted = wanted
        self._lock = threading.RLock()
        self._session: Any = None
        self._tried = False
        self._began = 0.0
        self._first = 0
        self._steps: list[tuple[int, float, float]] = []

    def step(self, number: int, seconds: float, now: float) -> None:
        if self._session is not None or not self._tried:
            guard(PROBE, self._step, number, seconds, now)

    def _step(self, number: int, seconds: float, now: float) -> None:
        with self._lock:
            if self._session is not None:
                self._count(number, seconds, now)
            elif not self._tried and number >= self._after:
                self._tried = True
                self._start(number)

    def _start(self, number: int) -> None:
        module = sys.modules.get(MODULE)
        if module is None:
            raise Unsupported("TensorFlow is not in use here, and its profiler is the only one that is known")
        sessions = module._pywrap_profiler
        session = sessions.ProfilerSession()
        _, trouble = attempt(session.start, os.path.join(self._recorder.folder, FOLDER), {})
        if trouble:
            raise Unsupported(f"TensorFlow's profiler could not start: {trouble}")
        self._session, self._first, self._began = session, number, time.time()
        # There can be one session in a process. The program's own comes first.
        patch.before(PROBE, sessions, "ProfilerSession", lambda *args: self._stop("the program began a profile itself"))
        atexit.register(guard, PROBE, self._stop, "the program ended")
        self._recorder.event("profile", state="began", after=number)

    def _count(self, number: int, seconds: float, now: float) -> None:
        began = max(self._began, now - seconds)  # the first one began while the profiler was starting
        if len(self._steps) < MOST_STEPS and number > self._first:
            self._steps.append((number, round(began, 6), round(now, 6)))
        if number - self._first >= self._wanted:
            self._stop("")

    def _stop(self, because: str) -> None:
        with self._lock:
            session, self._session = self._session, None
            if session is None or os.getpid() != self._recorder.pid:
                return
            patch.restore(PROBE)
            _, trouble = attempt(session.export_to_tb)
            layers, optimizers = attempt(_describe)[0] or ([], [])
            self._recorder.event(
                "profile",
                state="done" if not trouble else "lost",
                because=because or trouble,
                after=self._first,
                wanted=self._wanted,
                steps=self._steps,
                layers=layers,
                optimizers=optimizers,
            )


def _describe() -> tuple[list[tuple[int, str]], list[str]]:
    """Every model there is: its layers as rows (the parent's position or -1, name), and its optimizer's name."""
    rows: list[tuple[int, str]] = []
    optimizers: set[str] = set()
    for model in _models():
        _add(model, -1, rows, 0)
        name = getattr(getattr(model, "optimizer", None), "name", None)
        if isinstance(name, str):
            optimizers.add(name[:100])
    return rows, sorted(optimizers)


def _models() -> list[Any]:
    """The outermost models of the program; a loop of the user's own does not tell which it trains."""
    kinds = tuple(getattr(sys.modules[name], kind) for name, kind in MODELS.items() if name in sys.modules)
    # By the type's bases: isinstance would ask objects and classes of the program's own.
    things = gc.get_objects() if kinds else []
    models = {kind for kind in set(map(type, things)) if any(base in kinds for base in kind.__mro__)}
    found = [thing for thing in things if type(thing) in models][:MOST_MODELS]
    inner = {id(part) for model in found for part in _parts(model)}
    return [model for model in found if id(model) not in inner]


def _parts(layer: Any) -> Iterator[Any]:
    return iter(layer._flatten_layers(include_self=False, recursive=False))


def _add(layer: Any, parent: int, rows: list[tuple[int, str]], depth: int) -> None:
    if len(rows) >= MOST_LAYERS or depth > MOST_DEPTH:
        return
    rows.append((parent, str(layer.name)[:100]))
    here = len(rows) - 1
    if not type(layer).__module__.startswith(THEIR_LAYERS):
        for part in _parts(layer):
            _add(part, here, rows, depth + 1)
