"""Only in a side run of `laststep replay`: the bad step once more instead of the training; then the process ends."""

from __future__ import annotations

import functools
import sys
from types import FrameType, ModuleType
from typing import Any

from laststep.recorder import patch, state
from laststep.recorder.guard import attempt
from laststep.recorder.imports import when_imported
from laststep.recorder.numbers.model_layers import path_of
from laststep.recorder.probes.hand_loop import FUNCTION_MODULE, TAPE_MODULE
from laststep.recorder.probes.side_run import TRAINERS, end_process
from laststep.recorder.runtime import is_eager

PROBE = "replay"
MAX_EAGER_STEPS = 3  # of an untraced loop, before reporting that it cannot be entered

_sources: list[Any] = []  # the variables with respect to which the traced function takes gradients
_eager_steps = 0


def install() -> None:
    recorder = state.current
    if recorder is None or "replay" not in recorder.options:
        return
    for module, name in TRAINERS.items():
        when_imported(PROBE, module, functools.partial(_watch_fit, name))
    when_imported(PROBE, TAPE_MODULE, lambda module: patch.after(PROBE, module.GradientTape, "gradient", _on_gradient))
    when_imported(PROBE, FUNCTION_MODULE, _watch_functions)


def _watch_fit(name: str, module: ModuleType) -> None:
    kind = getattr(module, name)

    @functools.wraps(kind.fit)
    def fit(model: Any, *args: Any, **kwargs: Any) -> Any:
        _replay_and_end(lambda kept: _fit_step(kept, model, args, kwargs))

    patch.replace(PROBE, kind, "fit", fit)


def _fit_step(kept: Any, model: Any, args: Any, kwargs: Any) -> Any:
    from laststep.recorder.experiments.replay.rerun import CannotReplay

    tf = sys.modules["tensorflow"]
    given = args[0] if args else kwargs.get("x")
    x, y, weights = kept.role("x"), kept.role("y"), kept.role("sample_weight")
    if not x:
        raise CannotReplay("nothing of the batch was kept")
    tensors = [tf.constant(value) for value in x]
    inputs = tensors[0] if len(tensors) == 1 else tf.nest.pack_sequence_as(_structure(given, len(tensors)), tensors)
    targets = [tf.constant(value) for value in y]
    data: tuple[Any, ...] = (inputs, targets[0] if len(targets) == 1 else targets or None)
    data += (tf.constant(weights[0]),) if weights else ()
    model(inputs)  # builds the model if necessary
    kept.assign([(path_of(variable), variable) for variable in model.trainable_variables])
    return lambda: model.train_step(data)


def _structure(data: Any, count: int) -> Any:
    """The structure in which the program passes its inputs: names or positions."""
    if hasattr(data, "element_spec"):
        data = data.element_spec[0]
    return data if isinstance(data, (dict, list, tuple)) else [None] * count


def _on_gradient(result: Any, tape: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> None:
    global _eager_steps
    if not is_eager():
        _sources[:] = sys.modules["tensorflow"].nest.flatten(sources)
        return
    _eager_steps += 1
    if _eager_steps >= MAX_EAGER_STEPS:
        _replay_and_end(
            lambda kept: _refuse("it trains eagerly in a loop of its own, which can't be entered in the middle")
        )


def _watch_functions(module: ModuleType) -> None:
    manager = module._FrequentTracingDetectorManager
    patch.after(PROBE, manager, "called_with_tracing", _on_traced_call)


def _on_traced_call(result: Any, *args: Any) -> None:
    """A training function of the program has run once: its variables exist and its arguments are known."""
    if _sources and is_eager():
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and not (frame.f_code.co_name == "__call__" and "kwds" in frame.f_locals):
            frame = frame.f_back
        if frame is not None:
            function, call_args, call_kwargs = (frame.f_locals[name] for name in ("self", "args", "kwds"))
            _replay_and_end(lambda kept: _function_step(kept, function, call_args, call_kwargs))


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
    """The roles changed the order (inputs, then the target): match by dtype and shape of a sample."""
    left, ordered = list(arrays), []
    for at in places:
        wanted = (str(flat[at].dtype.name if hasattr(flat[at].dtype, "name") else flat[at].dtype), flat[at].shape[1:])
        match = next((v for v in left if (str(v.dtype), tuple(v.shape[1:])) == (wanted[0], tuple(wanted[1]))), left[0])
        left = [value for value in left if value is not match]
        ordered.append(match)
    return ordered


def _refuse(because: str) -> Any:
    from laststep.recorder.experiments.replay.rerun import CannotReplay

    raise CannotReplay(because)


def _replay_and_end(prepare: Any) -> None:
    """Run the step, record the result, and end the process before any other line of the program."""
    patch.restore(PROBE)
    _, problem = attempt(_replay, prepare)
    if problem and state.current is not None:
        state.current.event("replayed", because=problem.removeprefix("CannotReplay: "))
    end_process()


def _replay(prepare: Any) -> None:
    from laststep.recorder.experiments.replay.rerun import KeptStep, rerun_step

    if state.current is not None:
        kept = KeptStep(state.current.options["replay"])
        rerun_step(kept, prepare(kept))
