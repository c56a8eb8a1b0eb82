"""A made-up fit of eight epochs with losses, labels and weights, and what is found in it."""

from __future__ import annotations

from typing import Any

from laststep.analysis.finding import Finding
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.rules.diagnose import diagnose
from tests.written import written

HERE: dict[str, Any] = {"file": "/home/me/train.py", "line": 30, "function": "<module>", "text": "model.fit(x, y)"}
LAYER: dict[str, Any] = {"file": "/home/me/train.py", "line": 12, "function": "<module>", "text": "Dense(1)"}
BITS = {"shape": [32, 1], "low": 0.0, "high": 1.0, "mean": 0.5, "std": 0.5, "whole": True, "distinct": [0.0, 1.0]}
CHANCES = {"shape": [32, 1], "low": 0.1, "high": 0.9, "mean": 0.5, "std": 0.2, "whole": False}
INPUTS = {"shape": [32, 4], "low": -3.0, "high": 3.0, "mean": 0.0, "std": 1.0, "whole": False}
FALLS = [0.69, 0.5, 0.3, 0.2, 0.15, 0.12, 0.1, 0.09]
FLAT = [0.694, 0.693, 0.694, 0.693, 0.694, 0.693, 0.693, 0.694]
NAMES = ["dense/kernel", "dense/bias", "dense_1/kernel"]


def trained(losses: list[float] = FALLS, *more: Event, **changes: Any) -> Run:
    """A fit of eight epochs of 40 steps: one sigmoid unit, labels 0 and 1, and what is changed of it."""
    loss = {"name": "binary_crossentropy", "from_logits": None, "y_shape": [None, 1], "y_pred_shape": [None, 1]}
    loss |= {"made_by": "Sigmoid", "y_pred_dtype": "float32"} | changes.pop("loss", {})
    unit = {"name": "last", "class": "Dense", "activation": "sigmoid", "units": 1, "where": LAYER}
    unit |= changes.pop("layer", {})
    tensors = {"x": INPUTS, "y": BITS, "y_pred": CHANCES} | changes.pop("tensors", {})
    numbers = {"grads": {"dense": 0.5}, "weights": {"dense": 3.0}, "moved": {"dense": 0.1}, "rate": 0.01}
    numbers |= changes.pop("numbers", {})
    fit = {"id": 1, "new_model": True, "epochs": len(losses), "where": HERE, "model": {"parameters": 9, "trainable": 9}}
    fit |= changes.pop("fit", {})
    site = {"site": 1, "where": HERE, "missing": [], "losses": [loss], "model": {"layers": [unit], "outputs": ["last"]}}
    site |= {"variables": [{"name": name, "shape": [4, 2]} for name in NAMES]} | changes.pop("site", {})
    metrics, batches = changes.pop("metrics", [{}] * len(losses)), changes.pop("batches", 40)
    assert not changes, changes
    events = [written(1.0, "run", {}), written(1.1, "recorder", {"pid": 7}), written(2.0, "fit", fit)]
    events += [written(1.2, "versions", {"tensorflow": "2.21"}), written(3.0, "gradients", site)]
    events += [written(4.0 + n, "numbers", {"site": 1, "step": 20 * n + 20, "since": 20 * n, "loss": 0.7} | numbers)
               for n in range(16)]  # fmt: skip
    events += [written(30.0, "batch", {"site": 1, "batches": 16, "tensors": tensors})]
    events += [written(40.0 + n, "epoch", {"fit": 1, "epoch": n, "batches": batches,
                                           "metrics": {"loss": value} | metrics[n]})
               for n, value in enumerate(losses)]  # fmt: skip
    events += [written(90.0, "fit-end", {"id": 1, "epoch": len(losses) - 1}), written(99.0, "end", {"code": 0}), *more]
    return Run("made-up", tuple(sorted(events, key=lambda event: event.time)))


def found(run: Run) -> dict[str, Finding]:
    """In their order."""
    diagnosis = diagnose(run)
    assert [item for item in diagnosis.unchecked if "rule itself failed" in item.because] == []
    return {finding.rule: finding for finding in diagnosis.findings}


def first(run: Run) -> str:
    return next(iter(found(run)), "healthy")


def stats(low: float, high: float, **more: Any) -> dict[str, Any]:
    mean = (low + high) / 2
    return {"low": low, "high": high, "mean": mean, "std": (high - low) / 3, "whole": False} | more


CLASSES = {"name": "sparse_categorical_crossentropy", "y_shape": [None], "y_pred_shape": [None, 5]}
ROWS = {"name": "categorical_crossentropy", "y_shape": [None, 5], "y_pred_shape": [None, 5], "made_by": "Softmax"}
SQUARE = {"name": "mean_squared_error"}
LINEAR = {"made_by": "BiasAdd"}
