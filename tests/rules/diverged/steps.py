"""Made-up runs with the numbers of their steps: one of which each rule is the cause, and its near miss."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from laststep.analysis.finding import Confidence, Finding
from laststep.record.run import Run
from laststep.record.steps import Step
from laststep.rules.diagnose import diagnose
from tests.written import written

NAN, INF = math.nan, math.inf
RULES = (
    *("bad-input-values", "dead-activations", "exploding-gradients", "float16-overflow", "invalid-loss-math"),
    *("learning-rate-too-high", "learning-rate-too-low", "unscaled-inputs", "unscaled-targets", "vanishing-gradients"),
)
HERE: dict[str, Any] = {"file": "/home/me/train.py", "line": 30, "text": "model.fit(x, y)"}
LAYERS = ("net/a", "net/b", "net/out")
TABLE: dict[str, Any] = {"shape": [32, 8], "dtype": "float32", "low": -3.0, "high": 3.0, "mean": 0.0, "std": 1.0}
TABLE |= {"column_means": [0.0] * 8, "column_stds": [1.0] * 8}
COIN = {"shape": [32], "dtype": "float32", "low": 0.0, "high": 1.0, "mean": 0.5, "std": 0.5, "distinct": [0.0, 1.0]}
PRICE = {"shape": [32], "dtype": "float32", "low": -2.0, "high": 2.0, "mean": 0.0, "std": 1.0}


def layer(name: str, at: int, **more: Any) -> dict[str, Any]:
    fields = {"name": name, "class": "Dense", "activation": "relu", "dtype": "float32", "trainable": True}
    return fields | {"weights": [f"net/{name}/kernel", f"net/{name}/bias"], "where": HERE | {"line": at}} | more


def made(**more: Any) -> dict[str, Any]:
    shapes = {"a": [8, 32], "b": [32, 32], "out": [32, 1]}
    variables = [{"name": f"net/{name}/kernel", "shape": shape} for name, shape in shapes.items()]
    variables += [{"name": f"net/{name}/bias", "shape": shape[-1:]} for name, shape in shapes.items()]
    fields: dict[str, Any] = {"site": 2, "where": HERE, "missing": [], "step": 0, "variables": variables}
    fields |= {"losses": [{"name": "mean_squared_error", "y_pred_dtype": "float32"}]}
    fields |= {"optimizer": {"class": "SGD", "learning_rate": None}}
    fields |= {"model": {"layers": [layer("a", 11), layer("b", 12), layer("out", 13, activation="linear")]}}
    return fields | more


def reading(step: int, loss: float = 1.0, grad: float = 0.1, weight: float = 4.0, **more: Any) -> dict[str, Any]:
    fields = {"site": 2, "step": step, "loss": loss, "rate": 0.01, "since": max(0, step - 10)}
    fields |= {"grads": dict.fromkeys(LAYERS, grad), "weights": dict.fromkeys(LAYERS, weight)}
    return fields | {"moved": dict.fromkeys(LAYERS, 0.05), "dead": {f"{name}/kernel": 0.0 for name in LAYERS}} | more


def bad(step: int = 5, loss: float = NAN, **more: Any) -> dict[str, Any]:
    fields = {"site": 2, "step": step, "loss": loss, "inputs": {}, "data": {}, "kept": True, "weights_of": 0}
    return fields | {"grads": [f"{name}/kernel" for name in LAYERS], "finite": []} | more


def run_of(
    readings: list[dict[str, Any]], x: Any = TABLE, y: Any = PRICE, broken: Any = None, losses: Any = None, **more: Any
) -> Run:
    guess = more.pop("guess", {**PRICE, "shape": [32, 1], "column_means": [0.0], "column_stds": [0.5]})
    if "losses_of" in more:
        more["losses"] = more.pop("losses_of")
    recorded: list[tuple[str, dict[str, Any]]] = [("recorder", {"pid": 7}), ("gradients", made(**more))]
    recorded += [("batch", {"site": 2, "batches": 4, "tensors": {"x": x, "y": y, "y_pred": guess}})]
    recorded += [("numbers", item) for item in readings]
    if broken is not None:
        last = {"loss": broken["loss"], "grad": NAN, "weight": NAN, "bad": True}
        recorded += [("numbers", reading(broken["step"], **last)), ("bad-number", broken)]
    recorded += [("end", {"code": 0, "seconds": 60.0})]
    events = tuple(written(10.0 + at, kind, data, "recorder") for at, (kind, data) in enumerate(recorded))
    numbers = range(1, len(losses or [NAN] * 100) + 1)
    steps = [Step(n, 10.0 + n, 0.1, 0.0, (losses or [NAN] * 100)[n - 1], 0.01, 0, n, 1) for n in numbers]
    return Run("made-up", events=events, steps=steps)


def found(run: Run) -> dict[str, Finding]:
    diagnosis = diagnose(run)
    failed = [(item.rule, item.because) for item in diagnosis.unchecked if "rule itself failed" in item.because]
    assert failed == []
    return {finding.rule: finding for finding in diagnosis.findings if finding.rule in RULES}


def steady(count: int = 12, **more: Any) -> list[dict[str, Any]]:
    return [reading(1 + 8 * at, **more) for at in range(count)]


HOLE = {"nan": 1, "inf": 0, "of": 256, "samples": [4], "features": [3], "shape": [32, 8]}
HALF = {"layers": [layer("a", 11, dtype="mixed_float16"), layer("out", 13)]}
FADING = {"net/a": 1e-8, "net/b": 1e-5, "net/out": 0.2}
SILENT = {"grads": {"net/a": 0.0, "net/b": 0.1, "net/out": 0.2}, "dead": {"net/a/kernel": 1.0, "net/b/kernel": 0.0}}
SIGMOIDS = {"layers": [layer("a", 11, activation="sigmoid"), layer("b", 12, activation="sigmoid"), layer("out", 13)]}
PIXELS = {"shape": [32, 28, 28], "dtype": "float32", "low": 0.0, "high": 255.0, "mean": 120.0, "std": 70.0}
EUROS = {**PRICE, "low": 4e5, "high": 9e5, "mean": 7e5, "std": 1e5}
ADAM = {"class": "Adam", "learning_rate": None}
NORMALISED = {"layers": [{"name": "n", "class": "Normalization"}, layer("a", 11)]}
# rule → a run of which it is the cause, and one that only readings like it
FIRES: dict[str, Callable[[], Run]] = {
    "bad-input-values": lambda: run_of(steady(1), broken=bad(inputs={"x": HOLE, "y_pred": HOLE})),
    "float16-overflow": lambda: run_of(steady(1), broken=bad(loss=INF), model=HALF),
    "invalid-loss-math": lambda: run_of(steady(1), broken=bad(), losses=[1.0, 0.9, 0.9, 0.8, NAN, NAN]),
    "exploding-gradients": lambda: run_of([reading(1), reading(4, 90.0, 300.0)], broken=bad(loss=INF)),
    "learning-rate-too-high": lambda: run_of([reading(1, rate=2.0), reading(4, 90.0, rate=2.0)], broken=bad(loss=INF)),
    "unscaled-targets": lambda: run_of([reading(1, 5e11, 1e6)], y=EUROS, broken=bad(2, loss=INF)),
    "unscaled-inputs": lambda: run_of([reading(1, 1e5, 1e6), reading(3, 1e9, 1e8)], x=PIXELS, broken=bad(loss=INF)),
    "vanishing-gradients": lambda: run_of(steady(grads=FADING), model=SIGMOIDS),
    "dead-activations": lambda: run_of(steady(**SILENT)),
    "learning-rate-too-low": lambda: run_of(steady(rate=1e-7, moved=dict.fromkeys(LAYERS, 1e-5))),
}
NEAR_MISSES: dict[str, Callable[[], Run]] = {
    "bad-input-values": lambda: run_of(steady(), losses=[1.0 / n for n in range(1, 90)], x={**TABLE, "nan": 4}),
    "float16-overflow": lambda: run_of(steady(1), broken=bad(inputs={"x": HOLE}), model=HALF),
    "invalid-loss-math": lambda: run_of([reading(1), reading(4, 1e6, 1e7)], broken=bad(loss=INF)),
    "exploding-gradients": lambda: run_of([reading(1), reading(4, 90.0, 300.0)]),
    "learning-rate-too-high": lambda: run_of([reading(1 + 8 * n, 0.1, rate=2.0) for n in range(12)]),
    "unscaled-targets": lambda: run_of([reading(1 + 8 * n, 1e8) for n in range(12)], y=EUROS),
    "unscaled-inputs": lambda: run_of(steady(), x=PIXELS, model=NORMALISED),
    "vanishing-gradients": lambda: run_of([reading(1 + 8 * n, 0.1, grads=FADING) for n in range(12)], model=SIGMOIDS),
    "dead-activations": lambda: run_of(steady(dead={"net/a/kernel": 0.4})),
    "learning-rate-too-low": lambda: run_of([reading(1 + 8 * n, 0.1, moved={"net/a": 1e-5}) for n in range(12)]),
}


def sure(run: Run) -> list[str]:
    return [name for name, finding in found(run).items() if finding.confidence >= Confidence.LIKELY]
