"""Run the bad step again, one operation after the other: the kept batch and weights, in the program's own model."""

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
    """Its message is shown to the user in one line."""


class KeptStep:
    """What was kept of the step: arrays by role, weights by name."""

    def __init__(self, path: str) -> None:
        numpy = sys.modules["numpy"]
        with numpy.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        self.batch = {name.partition("/")[2]: value for name, value in arrays.items() if name.startswith("batch/")}
        self.weights = {name.partition("/")[2]: value for name, value in arrays.items() if name.startswith("weights/")}
        self.rows = max((len(value) for value in self.batch.values() if value.ndim), default=0)

    def role(self, name: str) -> list[Any]:
        """The arrays of x, y or sample_weight, in order."""
        arrays = [(key, value) for key, value in self.batch.items() if key == name or key.startswith(f"{name}/")]
        return [value for _, value in arrays]

    def assign(self, variables: list[tuple[str, Any]]) -> int:
        """By name; if the names differ (Keras numbers its layers), in order, provided that all shapes agree."""
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


def rerun_step(kept: KeptStep, step: Callable[[], Any]) -> None:
    """Run the step and record the result; an exception of the step is recorded, too."""
    recorder = state.current
    tf = sys.modules["tensorflow"]
    tf.config.run_functions_eagerly(True)
    tape = sys.modules["tensorflow.python.eager.backprop"].GradientTape
    fields: dict[str, Any] = {"inputs": {name: bad for name, v in kept.batch.items() if (bad := _bad_input(name, v))}}
    with Tracker(kept.rows) as tracker:
        taken: list[tuple[Any, Any]] = []
        after("replay", tape, "gradient", lambda result, _, target, *args, **kwargs: taken.append((target, result)))
        _, problem = attempt(step)
        fields["raised"] = problem or None
    nest = tf.nest
    losses = [tensor for target, _ in taken for tensor in nest.flatten(target)]
    grads = [getattr(grad, "values", grad) for _, result in taken for grad in nest.flatten(result) if grad is not None]
    fields["loss"] = [float(tf.reduce_sum(tensor)) for tensor in losses][:4]
    origin = tracker.origin_of(losses) or tracker.origin_of(grads)
    if origin is None and not fields["inputs"]:
        origin = _first_in_update(tracker.origins)
    fields |= {"operations": tracker.operations, "origin": origin.fields if origin else None, "rows": kept.rows}
    edges = sorted(tracker.edges.values(), key=lambda edge: float(edge["nearest"]))
    fields["edges"] = edges[:3] if origin is None else []
    fields["in_gradients"] = tracker.origin_of(losses) is None and tracker.origin_of(grads) is not None
    if recorder is not None:
        recorder.event("replayed", **fields)


def _first_in_update(origins: list[NonFiniteOrigin]) -> NonFiniteOrigin | None:
    """If neither the loss nor a gradient was affected, the origin can only be in the update."""
    updates = [origin for origin in origins if origin.fields["phase"] == "update"]
    return updates[0] if updates else None


def _bad_input(name: str, value: Any) -> dict[str, Any]:
    return bad_values(value) if name.split("/")[0] != "y_pred" else {}
