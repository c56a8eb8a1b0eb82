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
from laststep.recorder.network import remember_call
from laststep.recorder.numbers.broadcast import find_in_frame, find_in_graph
from laststep.recorder.numbers.cross_entropy import find_cross_entropy
from laststep.recorder.numbers.device_sentinel import insert_sentinel
from laststep.recorder.numbers.early_writes import may_write_early
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
from laststep.recorder.numbers.reader import CpuBudget, Reader, pause_before_next_read
from laststep.recorder.numbers.roles import (
    TARGET_NAME,
    describe_loss,
    guess_roles,
    is_made_by_keras,
    is_target,
    tensors_of_step,
)
from laststep.recorder.numbers.sentinel import Answer, TracedStep
from laststep.recorder.numbers.silent import silent
from laststep.recorder.numbers.stale_values import watch_stale_values
from laststep.recorder.patch import after, after_new
from laststep.recorder.probes.hand_loop import OPTIMIZERS, TAPE_MODULE
from laststep.recorder.probes.keras_fit import cheap_number
from laststep.recorder.runtime import is_eager, line_now, trains_alone
from laststep.recorder.source import where_batches_come_from, where_gradient_cut, where_only_dataset_source_set

PROBE = "numerics"
SAVE_MODULE = "tensorflow.python.saved_model.save"
LOSS_MODULES = ("keras.src.losses.loss", "tf_keras.src.losses")
LAYER_MODULES = ("keras.src.layers.layer", "tf_keras.src.engine.base_layer")
MAX_SITES = 24
MAX_EAGER_ELEMENTS = 1 << 16  # of a gradient, summed in each eager step

reader = Reader()
_eager_budget = CpuBudget(0.006, 0.003)
_eager_sites: dict[tuple[int, ...], GradientSite] = {}
_pending_losses: list[dict[str, Any]] = []  # called in the step that is being traced or measured
_recorded_optimizers: set[int] = set()  # ids
_site_count = 0
_eager_measurements = 0
_next_eager_time = 0.0


def install() -> None:
    when_imported(PROBE, TAPE_MODULE, lambda module: after(PROBE, module.GradientTape, "gradient", _on_gradient))
    for name in LOSS_MODULES:
        when_imported(PROBE, name, lambda module: after(PROBE, module.Loss, "__call__", _on_loss_call))
    when_imported(PROBE, SAVE_MODULE, lambda module: watch_saving(PROBE, module))
    for name, (kind, method) in OPTIMIZERS.items():
        when_imported(PROBE, name, functools.partial(_watch_optimizer, kind, method))
    for name in LAYER_MODULES:
        when_imported(PROBE, name, _watch_layers)


def _watch_optimizer(kind: str, method: str, module: ModuleType) -> None:
    after(PROBE, getattr(module, kind), method, _on_apply)


def _on_apply(result: Any, optimizer: Any, *args: Any, **kwargs: Any) -> None:
    """For each optimizer of the program's own loop, once: which variables it updates."""
    recorder = state.current
    if (
        recorder is None
        or recorder.open_fits
        or id(optimizer) in _recorded_optimizers
        or len(_recorded_optimizers) > MAX_SITES
    ):
        return
    _recorded_optimizers.add(id(optimizer))
    variables = getattr(optimizer, "_trainable_variables", None) or getattr(optimizer, "_variables", None) or []
    names = [path_of(variable) for variable in variables]
    where, _ = attempt(line_now, sys._getframe(2))
    recorder.event("applied", optimizer=type(optimizer).__name__, variables=names[:200], where=where)


def _watch_layers(module: ModuleType) -> None:
    after_new(PROBE, module.Layer, _on_new_layer)


def _on_new_layer(layer: Any) -> None:
    frame = sys._getframe(3)  # the caller: our hook · the guard · the wrapper
    remember_place(layer, frame)
    remember_call(layer, frame)


def _on_loss_call(result: Any, loss: Any, y_true: Any, y_pred: Any, *args: Any, **kwargs: Any) -> None:
    """A loss object was called. In an eager loop it is described only if the step is measured anyway."""
    if is_eager() and time.monotonic() < _next_eager_time:
        return
    if len(_pending_losses) < 8 and hasattr(y_pred, "shape") and hasattr(y_true, "shape"):
        settings = getattr(loss, "_fn_kwargs", None) or {}
        smoothing = settings.get("label_smoothing")
        described = describe_loss(_name(loss), settings.get("from_logits"), y_true, y_pred, smoothing)
        # Weak references: no tensor is kept.
        _pending_losses.append({"described": described, "y": weakref.ref(y_true), "y_pred": weakref.ref(y_pred)})


def _name(loss: Any) -> str:
    function = getattr(loss, "fn", None)
    return str(getattr(function, "__name__", None) or type(loss).__name__)


def _on_gradient(result: Any, tape: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> None:
    recorder = state.current
    if recorder is None:
        return
    losses, _pending_losses[:] = list(_pending_losses), []
    eager = is_eager()
    nest = sys.modules["tensorflow"].nest
    grads = nest.flatten(result)
    if eager and not _is_due(target, grads):
        return
    flat_sources = nest.flatten(sources)
    variables = [variable_of(source) for source in flat_sources]
    if not variables or any(variable is None for variable in variables) or len(variables) != len(grads):
        return  # a gradient with respect to something other than weights: a penalty, an attack
    frame = sys._getframe(3)  # the caller: our hook · the guard · the wrapper
    without_gradient = _without_gradient(tape, variables)
    call = _GradientCall(frame, names_of(flat_sources), variables, grads, target, losses, without_gradient)
    (_measure_eagerly if eager else _insert_sentinel)(recorder, call)


@dataclass(frozen=True)
class _GradientCall:
    """Gradients that were just taken: where, of which loss, with respect to which variables."""

    frame: FrameType
    names: list[str]
    variables: list[Any]
    grads: list[Any]
    loss: Any
    losses: list[dict[str, Any]]  # called in this step
    without_gradient: list[Any]  # used under the tape, but no gradient was taken with respect to them

    @functools.cached_property
    def model(self) -> Any:
        return find_model(self.frame, self.variables)

    @functools.cached_property
    def optimizer(self) -> Any:
        return find_optimizer(self.frame)


def _without_gradient(tape: Any, variables: list[Any]) -> list[Any]:
    with_gradient = {id(variable) for variable in variables}
    return [used for used in tape.watched_variables() if id(used) not in with_gradient and used.dtype.is_floating]


def _insert_sentinel(recorder: state.Recorder, call: _GradientCall) -> None:
    tf = sys.modules["tensorflow"]
    graph = tf.compat.v1.get_default_graph()
    if len(reader.sites) >= MAX_SITES or not trains_alone() or is_for_export(call.frame):
        return
    remember_function(call.frame)
    losses = call.losses or attempt(find_cross_entropy, call.loss)[0] or []
    given = tensors_of_step(call.frame, graph)
    batch = _roles(given, losses, graph)
    iterations = variable_of(getattr(call.optimizer, "iterations", None))
    scales_loss = getattr(call.optimizer, "inner_optimizer", None) is not None
    is_keras = is_made_by_keras(call.frame)
    writes_early = may_write_early(graph, call.model, call.optimizer)
    sentinel = insert_sentinel(
        TracedStep(call.variables, call.grads, call.loss, batch, iterations, scales_loss, is_keras, writes_early)
    )
    broadcast, _ = attempt(find_in_graph, call.loss)
    risky, _ = attempt(find_risky, call.loss)
    site = _new_site(recorder, call, losses, list(given), broadcast=broadcast, risky=risky)
    with tf.init_scope():
        site.step_offset = recorder.count - (
            0 if sentinel.counts_itself or iterations is None else _value_of(iterations)
        )
        attempt(site.remember_weights, recorder.count)  # before the first step
    attempt(watch_stale_values, call.frame, call.model)
    reader.add(site, sentinel)


def _value_of(iterations: Any) -> int:
    """The optimizer's step count. A variable created in this very trace has no value yet: an empty array."""
    value, _ = attempt(iterations.numpy)
    return int(value) if value is not None and value.size else 0


def _roles(found: dict[str, Any], losses: list[dict[str, Any]], graph: Any) -> dict[str, Any]:
    """The arguments of a loss are the target and the prediction; the other tensors of the step are its inputs."""
    if "y_pred" in found:
        return found
    pairs = [(loss["y"](), loss["y_pred"]()) for loss in losses]
    here = [pair for pair in pairs if all(part is not None and getattr(part, "graph", None) is graph for part in pair)]
    if not here:
        return guess_roles(found)
    target, prediction = here[-1]
    named = {("x/" + name): tensor for name, tensor in found.items() if not is_target(name, tensor, target)}
    return named | {"y": target, "y_pred": prediction}


def _data_names(given: Sequence[str]) -> list[str]:
    """The names of the first input and the first target of a step."""
    targets = [name for name in given if TARGET_NAME.match(name)] or list(given[1:2])
    inputs = [name for name in given if name not in targets]
    return [*inputs[:1], *targets[:1]] if inputs else []


def _new_site(
    recorder: state.Recorder, call: _GradientCall, losses: list[dict[str, Any]], given: Sequence[str], **seen: Any
) -> GradientSite:
    global _site_count
    _site_count = number = _site_count + 1
    names, variables = call.names, call.variables
    missing = [name for name, grad in zip(names, call.grads, strict=True) if grad is None]
    where, _ = attempt(line_now, call.frame)
    if missing:
        seen["cut_at"], _ = attempt(where_gradient_cut, where)
    if not recorder.open_fits:
        lines = (
            [attempt(where_batches_come_from, where["file"], where["line"], name)[0] for name in _data_names(given)]
            if where
            else []
        )
        seen["made_at"] = attempt(where_only_dataset_source_set, where)[0] or lines
    recorder.event(
        "gradients", site=number, where=where, missing=missing[:100], step=recorder.count,
        variables=[{"name": n, "shape": v.shape.as_list()} for n, v in zip(names[:200], variables, strict=False)],
        unasked=[{"name": path_of(v), "shape": v.shape.as_list()} for v in call.without_gradient[:200]],
        losses=[loss["described"] for loss in losses[:8]], model=describe_layers(call.model),
        optimizer=describe_optimizer(call.optimizer, call.frame), **seen,
    )  # fmt: skip
    return GradientSite(number, names, [weakref.ref(variable) for variable in variables], missing, call.optimizer)


@silent
def _is_due(loss: Any, grads: list[Any]) -> bool:
    """Whether to measure an eager step: by time, or if the gradient of the first kernel or the loss is not finite."""
    recorder = state.current
    if time.monotonic() >= _next_eager_time:
        return True
    first = next((grad for grad in grads if _is_kernel(grad)), None)
    if first is not None and _is_on_cpu(first) and first.shape.num_elements() <= MAX_EAGER_ELEMENTS:
        if not math.isfinite(float(first.numpy().sum())):
            return True
    return recorder is not None and recorder.loss_is_cheap() and not math.isfinite(_loss_value(loss))


def _loss_value(loss: Any) -> float:
    value = cheap_number(loss)
    return 0.0 if math.isnan(value) and not _is_on_cpu(loss) else value


def _is_on_cpu(tensor: Any) -> bool:
    return type(tensor).__name__ == "EagerTensor" and tensor.device.endswith("CPU:0")


@silent
def _measure_eagerly(recorder: state.Recorder, call: _GradientCall) -> None:
    global _eager_measurements, _next_eager_time
    if not _is_on_cpu(call.loss) or not trains_alone():
        _next_eager_time = math.inf
        return
    loss = float(call.loss) if call.loss.shape.rank == 0 else math.nan
    key = tuple(id(variable) for variable in call.variables)
    if key not in _eager_sites:
        if len(_eager_sites) >= MAX_SITES:
            return
        broadcast, _ = attempt(find_in_frame, loss, call.frame)
        given = list(tensors_of_step(call.frame, None))
        _eager_sites[key] = _new_site(recorder, call, call.losses, given, broadcast=broadcast, risky=None)
        reader.remember(_eager_sites[key])
    site, began = _eager_sites[key], time.thread_time()
    if site.bad:
        return
    norms = {at: half_square(_dense_values(grad)) for at, grad in enumerate(call.grads) if grad is not None}
    max_by_unit = {at: _max_by_unit(grad) for at, grad in enumerate(call.grads) if _is_kernel(grad)}
    tensors = _roles(tensors_of_step(call.frame, None), call.losses, None)
    batch = {name: tensor.numpy() for name, tensor in tensors.items() if hasattr(tensor, "numpy")}
    site.process(site.measure(Answer(False, loss, -1, norms, max_by_unit, batch), recorder.count + 1))
    _eager_measurements += 1
    if site.measurements > 1:  # the first measurement also warms up Python and TensorFlow
        _eager_budget.spend(time.thread_time() - began)
    _next_eager_time = time.monotonic() + pause_before_next_read(_eager_measurements, _eager_budget)


def _dense_values(grad: Any) -> Any:
    return (grad.values if hasattr(grad, "indices") else grad).numpy()


def _is_kernel(grad: Any) -> bool:
    return type(grad).__name__ == "EagerTensor" and grad.shape.rank >= 2


def _max_by_unit(grad: Any) -> Any:
    values = abs(grad.numpy())
    return values.reshape(-1, values.shape[-1]).max(axis=0)
