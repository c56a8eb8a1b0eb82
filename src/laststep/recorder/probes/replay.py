"""Only in a side run of `laststep replay`: the bad step once more, instead of the training; nothing follows."""

from __future__ import annotations

import functools
import sys
from types import FrameType, ModuleType
from typing import Any

from laststep.recorder import patch, state
from laststep.recorder.guard import attempt
from laststep.recorder.imports import when_imported
from laststep.recorder.numbers.model_layers import path_of
from laststep.recorder.probes.hand_loop import FUNCTION, TAPE
from laststep.recorder.probes.side_run import TRAINERS, leave
from laststep.recorder.runtime import is_eager

PROBE = "replay"
EAGER_STEPS = 3  # of a loop that is not traced, before one says that it can't be stepped into

_sources: list[Any] = []  # the variables by which the function that was traced takes gradients
_eager_steps = 0


def install() -> None:
    recorder = state.current
    if recorder is None or "replay" not in recorder.options:
        return
    for module, name in TRAINERS.items():
        when_imported(PROBE, module, functools.partial(_watch_fit, name))
    when_imported(PROBE, TAPE, lambda module: patch.after(PROBE, module.GradientTape, "gradient", _gradient))
    when_imported(PROBE, FUNCTION, _watch_functions)


def _watch_fit(name: str, module: ModuleType) -> None:
    kind = getattr(module, name)

    @functools.wraps(kind.fit)
    def fit(model: Any, *args: Any, **kwargs: Any) -> Any:
        _end(lambda kept: _fit_step(kept, model, args, kwargs))

    patch.replace(PROBE, kind, "fit", fit)


def _fit_step(kept: Any, model: Any, args: Any, kwargs: Any) -> Any:
    from laststep.recorder.experiments.replay.rerun import CannotReplay

    tf = sys.modules["tensorflow"]
    given = args[0] if args else kwargs.get("x")
    x, y, weights = kept.role("x"), kept.role("y"), kept.role("sample_weight")
    if not x:
        raise CannotReplay("of the batch nothing was kept")
    tensors = [tf.constant(value) for value in x]
    inputs = tensors[0] if len(tensors) == 1 else tf.nest.pack_sequence_as(_structure(given, len(tensors)), tensors)
    targets = [tf.constant(value) for value in y]
    data: tuple[Any, ...] = (inputs, targets[0] if len(targets) == 1 else targets or None)
    data += (tf.constant(weights[0]),) if weights else ()
    model(inputs)  # built now, if it was not
    kept.assign([(path_of(variable), variable) for variable in model.trainable_variables])
    return lambda: model.train_step(data)


def _structure(given: Any, count: int) -> Any:
    """As the program gives its inputs: names or places."""
    if hasattr(given, "element_spec"):
        given = given.element_spec[0]
    return given if isinstance(given, (dict, list, tuple)) else [None] * count


def _gradient(result: Any, tape: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> None:
    global _eager_steps
    if not is_eager():
        _sources[:] = sys.modules["tensorflow"].nest.flatten(sources)
        return
    _eager_steps += 1
    if _eager_steps >= EAGER_STEPS:
        _end(lambda kept: _refuse("its steps run eagerly in a loop of its own, which can't be entered in the middle"))


def _watch_functions(module: ModuleType) -> None:
    manager = module._FrequentTracingDetectorManager
    patch.after(PROBE, manager, "called_with_tracing", _after_trace)


def _after_trace(result: Any, *args: Any) -> None:
    """A training function of the program's own has run once: its variables are there, its arguments are known."""
    if _sources and is_eager():
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and not (frame.f_code.co_name == "__call__" and "kwds" in frame.f_locals):
            frame = frame.f_back
        if frame is not None:
            function, given, named = (frame.f_locals[name] for name in ("self", "args", "kwds"))
            _end(lambda kept: _function_step(kept, function, given, named))


def _function_step(kept: Any, function: Any, args: Any, kwargs: Any) -> Any:
    from laststep.recorder.experiments.replay.rerun import CannotReplay

    tf = sys.modules["tensorflow"]
    flat = tf.nest.flatten((args, kwargs))
    arrays = [value for name, value in kept.batch.items() if name != "y_pred"]
    places = [at for at, value in enumerate(flat) if hasattr(value, "dtype") and not hasattr(value, "assign")]
    if len(places) != len(arrays):
        raise CannotReplay("what was kept of the batch does not fit the function's arguments")
    for at, value in zip(places, _in_order(flat, places, arrays), strict=True):
        flat[at] = tf.constant(value)
    args, kwargs = tf.nest.pack_sequence_as((args, kwargs), flat)
    kept.assign([(path_of(variable), variable) for variable in _sources])
    return lambda: function._python_function(*args, **kwargs)


def _in_order(flat: list[Any], places: list[int], arrays: list[Any]) -> list[Any]:
    """Roles changed the order (inputs, then the target): matched by dtype and the shape of a sample."""
    left, found = list(arrays), []
    for at in places:
        wanted = (str(flat[at].dtype.name if hasattr(flat[at].dtype, "name") else flat[at].dtype), flat[at].shape[1:])
        fits = next((v for v in left if (str(v.dtype), tuple(v.shape[1:])) == (wanted[0], tuple(wanted[1]))), left[0])
        left = [value for value in left if value is not fits]
        found.append(fits)
    return found


def _refuse(because: str) -> Any:
    from laststep.recorder.experiments.replay.rerun import CannotReplay

    raise CannotReplay(because)


def _end(prepare: Any) -> None:
    """The step, what it told, and no line of the program after it."""
    patch.restore(PROBE)
    _, trouble = attempt(_replay, prepare)
    if trouble and state.current is not None:
        state.current.event("replayed", because=trouble.removeprefix("CannotReplay: "))
    leave()


def _replay(prepare: Any) -> None:
    from laststep.recorder.experiments.replay.rerun import KeptStep, step_again

    if state.current is not None:
        kept = KeptStep(state.current.options["replay"])
        step_again(kept, prepare(kept))
