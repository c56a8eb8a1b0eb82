"""The bad step again: the kept batch and weights, in the program's own model, one operation after the other."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from laststep.recorder import state
from laststep.recorder.experiments.replay.origin import NonFiniteOrigin, Tracker
from laststep.recorder.guard import attempt
from laststep.recorder.numbers.tensor_statistics import bad_values
from laststep.recorder.patch import after


class CannotReplay(Exception):
    """Said to the user in one line."""


class KeptStep:
    """What was kept of the step: arrays by role, weights by name."""

    def __init__(self, path: str) -> None:
        numpy = sys.modules["numpy"]
        with numpy.load(path, allow_pickle=False) as held:
            arrays = {name: held[name] for name in held.files}
        self.batch = {name.partition("/")[2]: value for name, value in arrays.items() if name.startswith("batch/")}
        self.weights = {name.partition("/")[2]: value for name, value in arrays.items() if name.startswith("weights/")}
        self.rows = max((len(value) for value in self.batch.values() if value.ndim), default=0)

    def role(self, name: str) -> list[Any]:
        """The arrays of x, y or sample_weight, in their order."""
        found = [(key, value) for key, value in self.batch.items() if key == name or key.startswith(f"{name}/")]
        return [value for _, value in found]

    def assign(self, variables: list[tuple[str, Any]]) -> int:
        """By name; where the names differ (Keras counts layers), in their order, if all shapes agree."""
        named = dict(variables)
        if set(self.weights) <= set(named):
            pairs = [(named[name], value) for name, value in self.weights.items()]
        else:
            pairs = list(zip((variable for _, variable in variables), self.weights.values(), strict=False))
        if len(pairs) < len(self.weights) or any(tuple(v.shape) != value.shape for v, value in pairs):
            raise CannotReplay("the model has other weights now than when it was recorded")
        for variable, value in pairs:
            variable.assign(value)
        return len(pairs)


def step_again(kept: KeptStep, step: Callable[[], Any]) -> None:
    """Runs it and tells what came of it; whatever the step raises is told, too."""
    recorder = state.current
    tf = sys.modules["tensorflow"]
    tf.config.run_functions_eagerly(True)
    tape = sys.modules["tensorflow.python.eager.backprop"].GradientTape
    told: dict[str, Any] = {"inputs": {name: bad for name, v in kept.batch.items() if (bad := _bad_input(name, v))}}
    with Tracker(kept.rows) as tracker:
        taken: list[tuple[Any, Any]] = []
        after("replay", tape, "gradient", lambda result, _, target, *args, **kwargs: taken.append((target, result)))
        _, trouble = attempt(step)
        told["raised"] = trouble or None
    nest = tf.nest
    losses = [tensor for target, _ in taken for tensor in nest.flatten(target)]
    grads = [getattr(grad, "values", grad) for _, result in taken for grad in nest.flatten(result) if grad is not None]
    told["loss"] = [float(tf.reduce_sum(tensor)) for tensor in losses][:4]
    origin = tracker.origin_of(losses) or tracker.origin_of(grads)
    if origin is None and not told["inputs"]:
        origin = _last(tracker.origins)
    told |= {"operations": tracker.operations, "origin": origin.told if origin else None, "rows": kept.rows}
    edges = sorted(tracker.edges.values(), key=lambda edge: float(edge["nearest"]))
    told["edges"] = edges[:3] if origin is None else []
    told["in_gradients"] = tracker.origin_of(losses) is None and tracker.origin_of(grads) is not None
    if recorder is not None:
        recorder.event("replayed", **told)


def _last(origins: list[NonFiniteOrigin]) -> NonFiniteOrigin | None:
    """What reached neither the loss nor a gradient can only have been in the update."""
    updates = [origin for origin in origins if origin.told["phase"] == "update"]
    return updates[0] if updates else None


def _bad_input(name: str, value: Any) -> dict[str, Any]:
    return bad_values(value) if name.split("/")[0] != "y_pred" else {}
