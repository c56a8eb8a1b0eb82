"""The numbers of a training step: a sentinel where gradients are taken, and what the host reads from it."""

from __future__ import annotations

import functools
import math
import sys
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any

from laststep.recorder import state
from laststep.recorder.guard import attempt
from laststep.recorder.imports import when_imported
from laststep.recorder.numbers.broadcast import find_in_frame, find_in_graph
from laststep.recorder.numbers.cross_entropy import find_cross_entropy
from laststep.recorder.numbers.device_sentinel import lay_sentinel
from laststep.recorder.numbers.exports import is_for_export, remember_function, watch_saving
from laststep.recorder.numbers.gradient_site import GradientSite, half_square
from laststep.recorder.numbers.graph import find_risky
from laststep.recorder.numbers.model_layers import (
    describe_layers,
    describe_optimizer,
    find_model,
    find_optimizer,
    names_of,
    path_of,
    remember_place,
    variable_of,
)
from laststep.recorder.numbers.reader import CpuBudget, Reader, pace
from laststep.recorder.numbers.roles import TARGET, describe_loss, guess_roles, is_of_keras, is_target, tensors_of_step
from laststep.recorder.numbers.sentinel import Answer, TracedStep
from laststep.recorder.numbers.stale_values import watch_frozen
from laststep.recorder.patch import after, after_new
from laststep.recorder.probes.hand_loop import OPTIMIZERS, TAPE
from laststep.recorder.probes.keras_fit import cheap_number
from laststep.recorder.runtime import is_eager, line_now, trains_alone
from laststep.recorder.source import where_batches_come_from, where_gradient_cut, where_only_dataset_source_set

PROBE = "numerics"
SAVE = "tensorflow.python.saved_model.save"
LOSSES = ("keras.src.losses.loss", "tf_keras.src.losses")
LAYERS = ("keras.src.layers.layer", "tf_keras.src.engine.base_layer")
MOST_SITES = 24
MOST_EAGER = 1 << 16  # numbers that are summed up in each eager step

reader = Reader()
_for_eager = CpuBudget(0.006, 0.003)
_eager: dict[tuple[int, ...], GradientSite] = {}
_losses: list[dict[str, Any]] = []  # of the step that is being traced, or looked at
_optimizers: set[int] = set()  # that were told
_count = 0
_looks = 0
_next_eager = 0.0


def install() -> None:
    when_imported(PROBE, TAPE, lambda module: after(PROBE, module.GradientTape, "gradient", _gradient))
    for name in LOSSES:
        when_imported(PROBE, name, lambda module: after(PROBE, module.Loss, "__call__", _lost))
    when_imported(PROBE, SAVE, lambda module: watch_saving(PROBE, module))
    for name, (kind, method) in OPTIMIZERS.items():
        when_imported(PROBE, name, functools.partial(_watch_optimizer, kind, method))
    for name in LAYERS:
        when_imported(PROBE, name, _watch_layers)


def _watch_optimizer(kind: str, method: str, module: ModuleType) -> None:
    after(PROBE, getattr(module, kind), method, _applied)


def _applied(result: Any, optimizer: Any, *args: Any, **kwargs: Any) -> None:
    """Once for each optimizer of a loop of the program's own: which variables it updates."""
    recorder = state.current
    if recorder is None or recorder.open_fits or id(optimizer) in _optimizers or len(_optimizers) > MOST_SITES:
        return
    _optimizers.add(id(optimizer))
    held = getattr(optimizer, "_trainable_variables", None) or getattr(optimizer, "_variables", None) or []
    names = [path_of(variable) for variable in held]
    where, _ = attempt(line_now, sys._getframe(2))
    recorder.event("applied", optimizer=type(optimizer).__name__, variables=names[:200], where=where)


def _watch_layers(module: ModuleType) -> None:
    after_new(PROBE, module.Layer, lambda layer: remember_place(layer, sys._getframe(3)))


def _lost(result: Any, loss: Any, y_true: Any, y_pred: Any, *args: Any, **kwargs: Any) -> None:
    """A loss object was called. In an eager loop only where the step is looked at anyway."""
    if is_eager() and time.monotonic() < _next_eager:
        return
    if len(_losses) < 8 and hasattr(y_pred, "shape") and hasattr(y_true, "shape"):
        settings = getattr(loss, "_fn_kwargs", None) or {}
        told = describe_loss(_name(loss), settings.get("from_logits"), y_true, y_pred)
        _losses.append({"told": told, "y": weakref.ref(y_true), "y_pred": weakref.ref(y_pred)})  # none is kept by us


def _name(loss: Any) -> str:
    function = getattr(loss, "fn", None)
    return str(getattr(function, "__name__", None) or type(loss).__name__)


def _gradient(result: Any, tape: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> None:
    recorder = state.current
    if recorder is None:
        return
    losses, _losses[:] = list(_losses), []
    eager = is_eager()
    nest = sys.modules["tensorflow"].nest
    grads = nest.flatten(result)
    if eager and not _is_due(target, grads):
        return
    given = nest.flatten(sources)
    variables = [variable_of(source) for source in given]
    if not variables or any(variable is None for variable in variables) or len(variables) != len(grads):
        return  # a gradient by something else than weights: a penalty, an attack
    frame = sys._getframe(3)  # the caller: our hook · the guard · the wrapper
    taken = _GradientCall(frame, names_of(given), variables, grads, target, losses, _unasked(tape, variables))
    (_look_eagerly if eager else _lay)(recorder, taken)


@dataclass(frozen=True)
class _GradientCall:
    """Gradients that were just taken: by whom, of what, by which variables."""

    frame: FrameType
    names: list[str]
    variables: list[Any]
    grads: list[Any]
    loss: Any
    losses: list[dict[str, Any]]  # that were called on the way
    unasked: list[Any]  # variables that the tape saw used, of which no gradient was taken

    @functools.cached_property
    def model(self) -> Any:
        return find_model(self.frame, self.variables)

    @functools.cached_property
    def optimizer(self) -> Any:
        return find_optimizer(self.frame)


def _unasked(tape: Any, variables: list[Any]) -> list[Any]:
    asked = {id(variable) for variable in variables}
    return [held for held in tape.watched_variables() if id(held) not in asked and held.dtype.is_floating]


def _lay(recorder: state.Recorder, taken: _GradientCall) -> None:
    tf = sys.modules["tensorflow"]
    graph = tf.compat.v1.get_default_graph()
    if len(reader.sites) >= MOST_SITES or not trains_alone() or is_for_export(taken.frame):
        return
    remember_function(taken.frame)
    losses = taken.losses or attempt(find_cross_entropy, taken.loss)[0] or []
    given = tensors_of_step(taken.frame, graph)
    batch = _roles(given, losses, graph)
    clock = variable_of(getattr(taken.optimizer, "iterations", None))
    scales_loss = getattr(taken.optimizer, "inner_optimizer", None) is not None
    keras_own = is_of_keras(taken.frame)
    sentinel = lay_sentinel(TracedStep(taken.variables, taken.grads, taken.loss, batch, clock, scales_loss, keras_own))
    met, _ = attempt(find_in_graph, taken.loss)
    risky, _ = attempt(find_risky, taken.loss)
    site = _new_site(recorder, taken, losses, list(given), broadcast=met, risky=risky)
    with tf.init_scope():
        site.began = recorder.count - (0 if sentinel.counts_itself or clock is None else _steps_of(clock))
        attempt(site.remember_weights, recorder.count)  # before the first step
    attempt(watch_frozen, taken.frame, taken.model)
    reader.add(site, sentinel)


def _steps_of(clock: Any) -> int:
    """The optimizer's count. One that was made inside this very trace has no value yet: an empty array."""
    value, _ = attempt(clock.numpy)
    return int(value) if value is not None and value.size else 0


def _roles(found: dict[str, Any], losses: list[dict[str, Any]], graph: Any) -> dict[str, Any]:
    """What a loss was given is the target and the prediction; what else the step got is its input."""
    if "y_pred" in found:
        return found
    pairs = [(loss["y"](), loss["y_pred"]()) for loss in losses]
    here = [pair for pair in pairs if all(part is not None and getattr(part, "graph", None) is graph for part in pair)]
    if not here:
        return guess_roles(found)
    target, prediction = here[-1]
    named = {("x/" + name): tensor for name, tensor in found.items() if not is_target(name, tensor, target)}
    return named | {"y": target, "y_pred": prediction}


def _two(given: Sequence[str]) -> list[str]:
    """The names of the inputs and of the targets that a step was given."""
    targets = [name for name in given if TARGET.match(name)] or list(given[1:2])
    inputs = [name for name in given if name not in targets]
    return [*inputs[:1], *targets[:1]] if inputs else []


def _new_site(
    recorder: state.Recorder, taken: _GradientCall, losses: list[dict[str, Any]], given: Sequence[str], **seen: Any
) -> GradientSite:
    global _count
    _count = number = _count + 1
    names, variables = taken.names, taken.variables
    missing = [name for name, grad in zip(names, taken.grads, strict=True) if grad is None]
    where, _ = attempt(line_now, taken.frame)
    if missing:
        seen["cut_at"], _ = attempt(where_gradient_cut, where)
    if not recorder.open_fits:
        lines = (
            [attempt(where_batches_come_from, where["file"], where["line"], name)[0] for name in _two(given)]
            if where
            else []
        )
        seen["made_at"] = attempt(where_only_dataset_source_set, where)[0] or lines
    recorder.event(
        "gradients", site=number, where=where, missing=missing[:100], step=recorder.count,
        variables=[{"name": n, "shape": v.shape.as_list()} for n, v in zip(names[:200], variables, strict=False)],
        unasked=[{"name": path_of(v), "shape": v.shape.as_list()} for v in taken.unasked[:200]],
        losses=[loss["told"] for loss in losses[:8]], model=describe_layers(taken.model),
        optimizer=describe_optimizer(taken.optimizer, taken.frame), **seen,
    )  # fmt: skip
    return GradientSite(number, names, [weakref.ref(variable) for variable in variables], missing, taken.optimizer)


def _is_due(loss: Any, grads: list[Any]) -> bool:
    """An eager step: by the clock, and where the gradient of the first kernel, or the loss, is no number."""
    recorder = state.current
    if time.monotonic() >= _next_eager:
        return True
    first = next((grad for grad in grads if _is_kernel(grad)), None)
    if first is not None and _on_cpu(first) and first.shape.num_elements() <= MOST_EAGER:
        if not math.isfinite(float(first.numpy().sum())):
            return True
    return recorder is not None and recorder.loss_is_cheap() and not math.isfinite(_number(loss))


def _number(loss: Any) -> float:
    value = cheap_number(loss)
    return 0.0 if math.isnan(value) and not _on_cpu(loss) else value


def _on_cpu(tensor: Any) -> bool:
    return type(tensor).__name__ == "EagerTensor" and tensor.device.endswith("CPU:0")


def _look_eagerly(recorder: state.Recorder, taken: _GradientCall) -> None:
    global _looks, _next_eager
    if not _on_cpu(taken.loss) or not trains_alone():
        _next_eager = math.inf
        return
    loss = float(taken.loss) if taken.loss.shape.rank == 0 else math.nan
    key = tuple(id(variable) for variable in taken.variables)
    if key not in _eager:
        if len(_eager) >= MOST_SITES:
            return
        met, _ = attempt(find_in_frame, loss, taken.frame)
        given = list(tensors_of_step(taken.frame, None))
        _eager[key] = _new_site(recorder, taken, taken.losses, given, broadcast=met, risky=None)
        reader.remember(_eager[key])
    site, began = _eager[key], time.thread_time()
    if site.bad:
        return
    norms = {at: half_square(_values(grad)) for at, grad in enumerate(taken.grads) if grad is not None}
    lively = {at: _liveliest(grad) for at, grad in enumerate(taken.grads) if _is_kernel(grad)}
    held = _roles(tensors_of_step(taken.frame, None), taken.losses, None)
    batch = {name: tensor.numpy() for name, tensor in held.items() if hasattr(tensor, "numpy")}
    site.take(site.look(Answer(False, loss, -1, norms, lively, batch), recorder.count + 1))
    _looks += 1
    if site.looks > 1:  # the first one also makes Python and TensorFlow ready for it
        _for_eager.spend(time.thread_time() - began)
    _next_eager = time.monotonic() + pace(_looks, _for_eager)


def _values(grad: Any) -> Any:
    return (grad.values if hasattr(grad, "indices") else grad).numpy()


def _is_kernel(grad: Any) -> bool:
    return type(grad).__name__ == "EagerTensor" and grad.shape.rank >= 2


def _liveliest(grad: Any) -> Any:
    values = abs(grad.numpy())
    return values.reshape(-1, values.shape[-1]).max(axis=0)
