"""The rules about a step's numbers on made-up runs: each fires, its near miss does not."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import pytest

from laststep.analysis.finding import Confidence, Finding
from laststep.analysis.learning.site import last_site, sites
from laststep.record.event import Event
from laststep.record.events.numbers import BatchStatistics, Gradients, Numbers
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.record.steps import Step
from laststep.rules.diagnose import diagnose
from laststep.rules.rule import all_rules
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


@pytest.mark.parametrize("rule", RULES)
def test_it_is_there_with_a_run_that_fires_and_a_near_miss(rule: str) -> None:
    assert rule in all_rules()
    assert {rule} <= set(FIRES) & set(NEAR_MISSES)


@pytest.mark.parametrize("rule", RULES)
def test_it_names_its_cause_first_with_evidence_and_a_line(rule: str) -> None:
    run = FIRES[rule]()
    finding = diagnose(run).findings[0]
    assert finding.rule == rule
    assert finding.confidence in (Confidence.LIKELY, Confidence.CERTAIN)
    assert finding.remedies
    assert finding.where is not None
    assert all(len(evidence.says) < 160 for evidence in finding.evidence)


@pytest.mark.parametrize("rule", RULES)
def test_its_near_miss_is_not_it(rule: str) -> None:
    assert rule not in found(NEAR_MISSES[rule]())


@pytest.mark.parametrize("rule", RULES)
def test_one_cause_is_enough(rule: str) -> None:
    sure = [name for name, finding in found(FIRES[rule]()).items() if finding.confidence >= Confidence.LIKELY]
    assert sure == [rule] or rule in ("unscaled-targets", "unscaled-inputs")


def test_a_training_that_works_has_no_finding() -> None:
    assert found(run_of([reading(1 + 8 * n, 1.0 / (n + 1)) for n in range(12)])) == {}


def test_too_few_steps_are_not_judged() -> None:
    assert found(run_of([reading(n, grads=FADING) for n in (1, 2, 3)], losses=[1.0, 1.0, 1.0], model=SIGMOIDS)) == {}


def test_the_feature_and_the_sample_are_told() -> None:
    finding = found(FIRES["bad-input-values"]())["bad-input-values"]
    assert "the inputs of step 5: 1 of 256 values is NaN, in feature 3; sample 4" in [e.says for e in finding.evidence]
    assert finding.confidence is Confidence.CERTAIN


def test_the_layer_where_it_begins_is_told() -> None:
    assert found(FIRES["vanishing-gradients"]())["vanishing-gradients"].where == Place(**HERE | {"line": 12})
    assert found(FIRES["dead-activations"]())["dead-activations"].where == Place(**HERE | {"line": 11})


def test_a_rate_to_try_is_told() -> None:
    low = found(FIRES["learning-rate-too-low"]())["learning-rate-too-low"].remedies[0]
    high = found(FIRES["learning-rate-too-high"]())["learning-rate-too-high"].remedies[0]
    assert float(str(low.change).partition("=")[2]) > 1e-5
    assert float(str(high.change).partition("=")[2]) <= 0.01


def test_a_skipped_trial_of_the_loss_scale_is_no_harm() -> None:
    scaler = {"class": "LossScaleOptimizer", "inner": "Adam", "scales_loss": True}
    run = run_of(steady(1), broken=bad(1, loss=3.0), model=HALF, optimizer=scaler)
    healed = [*run.events, written(99.0, "epoch", {"epoch": 0, "metrics": {"loss": 0.2}}, "recorder")]
    assert found(Run("made-up", events=tuple(healed), steps=run.steps)) == {}


def test_two_trainings_at_once_are_not_judged() -> None:
    """The discriminator of a GAN is at chance when all is well."""
    run = run_of(steady(grads=FADING), model=SIGMOIDS)
    twin: list[Event] = []
    for event in run.events:
        if isinstance(event, Gradients):
            twin.append(dataclasses.replace(event, time=event.time + 0.5, site=3, where=Place("/home/me/train.py", 9)))
        elif isinstance(event, (Numbers, BatchStatistics)):
            twin.append(dataclasses.replace(event, time=event.time + 0.5, site=3))
    both = tuple(sorted([*run.events, *twin], key=lambda event: event.time))
    assert found(Run("made-up", events=both, steps=run.steps)) == {}


def test_where_a_cause_is_known_nan_loss_is_only_possible() -> None:
    run = FIRES["invalid-loss-math"]()
    metrics = written(99.0, "epoch", {"epoch": 0, "metrics": {"loss": NAN}}, "recorder")
    findings = diagnose(Run("made-up", events=(*run.events, metrics), steps=run.steps)).findings
    assert [(finding.rule, finding.confidence) for finding in findings] == [
        ("invalid-loss-math", Confidence.LIKELY), ("nan-loss", Confidence.POSSIBLE)]  # fmt: skip


def sure(run: Run) -> list[str]:
    return [name for name, finding in found(run).items() if finding.confidence >= Confidence.LIKELY]


def test_weights_that_were_broken_a_step_before_are_not_blamed_on_the_loss() -> None:
    every = {"nan": 32, "inf": 0, "of": 32, "samples": [0, 1, 2], "features": [0], "shape": [32, 1]}
    assert sure(run_of(steady(1), broken=bad(inputs={"y_pred": every}))) == []
    run = run_of(steady(1), broken=bad(inputs={"y_pred": every}, data={"x": HOLE}))
    assert sure(run) == ["bad-input-values"]


def test_labels_that_are_no_classes_and_a_misused_cross_entropy_are_left_to_others() -> None:
    sparse = [{"name": "sparse_categorical_crossentropy", "from_logits": True, "made_by": "BiasAdd"}]
    labels = {**COIN, "high": 5.0, "distinct": [1.0, 5.0], "whole": True}
    assert found(run_of([], y=labels, broken=bad(1), guess={"shape": [32, 5]})) != {}
    assert found(run_of([], y=labels, broken=bad(1), guess={"shape": [32, 5]}, losses_of=sparse)) == {}
    misfit = [{"name": "categorical_crossentropy", "from_logits": False, "made_by": "Relu"}]
    assert sure(run_of([], broken=bad(1), losses_of=misfit)) == []


def test_a_bad_step_that_the_program_skips_does_no_harm() -> None:
    broken = bad(5, inputs={"x": HOLE})
    run = run_of(steady(1), losses=[1.0, 0.9, 0.8, 0.8, NAN, 0.7, 0.6, 0.5])
    read = written(40.0, "numbers", reading(5, NAN, NAN, 4.0, bad=True), "recorder")
    events = (*run.events, read, written(41.0, "bad-number", broken, "recorder"))
    assert found(Run("made-up", events=events, steps=run.steps)) == {}


def test_a_layer_that_is_given_zeros_is_not_dead() -> None:
    blank = {"grads": {"net/a": 0.3, "net/b": 0.1, "net/out": 0.2}, "dead": {"net/a/kernel": 1.0}}
    assert "dead-activations" not in found(run_of(steady(**blank)))
    assert "dead-activations" not in found(run_of(steady(**SILENT), x={**TABLE, "zeros": 1.0}))


def test_targets_without_a_link_to_the_inputs_leave_a_finding_possible() -> None:
    run = FIRES["vanishing-gradients"]()
    luck = written(90.0, "dependence", {"site": 2, "rows": 400, "p": 0.6}, "recorder")
    findings = found(Run("made-up", events=(*run.events, luck), steps=run.steps))
    assert findings["vanishing-gradients"].confidence is Confidence.POSSIBLE
    unclear = written(90.0, "dependence", {"site": 2, "rows": 400, "p": 0.05}, "recorder")
    findings = found(Run("made-up", events=(*run.events, unclear), steps=run.steps))
    assert findings["vanishing-gradients"].confidence is Confidence.LIKELY


def test_a_rate_that_comes_down_at_once_is_too_low_and_one_that_comes_down_late_is_not() -> None:
    rates = [0.01, 1e-5, *[1e-9] * 10]
    early = run_of([reading(1 + 8 * at, 0.9, rate=rate) for at, rate in enumerate(rates)])
    late = run_of([reading(1 + 8 * at, 0.9, rate=rate) for at, rate in enumerate([*[0.01] * 10, 1e-5, 1e-9])])
    assert sure(early) == ["learning-rate-too-low"]
    assert "learning-rate-too-low" not in found(late)


def test_sgd_that_was_not_seen_between_may_have_blown_up_or_not() -> None:
    findings = found(run_of([], broken=bad(6, loss=INF)))
    assert {name: finding.confidence.name for name, finding in findings.items()} == {
        "exploding-gradients": "POSSIBLE", "invalid-loss-math": "POSSIBLE"}  # fmt: skip


def test_units_that_all_died_on_the_way_and_those_that_come_back() -> None:
    gone = {"net/a": 0.0, "net/b": 0.0, "net/out": 0.2}
    alive, dead = steady(4, loss=0.4), [reading(40 + 8 * at, 0.4, grads=gone) for at in range(6)]
    finding = found(run_of(alive + dead))["dead-activations"]
    assert finding.confidence is Confidence.LIKELY
    assert "since step 40" in finding.cause
    assert "dead-activations" not in found(run_of(alive + dead[:3] + steady(2, loss=0.4) + dead[:2]))
    # What silenced them has a rule of its own.
    fast = [{**item, "rate": 1.0} for item in alive + dead]
    assert list(found(run_of(fast, optimizer=ADAM))) == ["learning-rate-too-high"]


def test_a_rate_that_grows_late_is_too_high_by_its_late_steps() -> None:
    late = steady(8, rate=0.001) + [reading(80 + 8 * at, 50.0, rate=9.0) for at in range(6)]
    rising = [1.0] * 70 + [50.0] * 60
    assert "learning-rate-too-high" in found(run_of(late, optimizer=ADAM, losses=rising))
    assert "learning-rate-too-high" not in found(run_of(steady(14, rate=0.001), optimizer=ADAM, losses=[1.0] * 130))


def test_weights_drawn_far_too_large_blow_up_at_once() -> None:
    nowhere = dict.fromkeys(LAYERS, NAN)
    lost = {"y_pred": HOLE | {"nan": 256}}
    large = bad(1, weights={"net/a": 4.0, "net/b": 60.0, "net/out": 1.0}, inputs=lost)
    run = run_of([reading(1, NAN, NAN, NAN, bad=True)], broken=large)
    assert "the weights of net/b had 10.6 times the usual initial norm" in found(run)["exploding-gradients"].cause
    assert "invalid-loss-math" in found(run_of([reading(1, NAN, NAN, NAN, bad=True)], broken={**large, "inputs": {}}))
    usual = bad(1, weights={"net/a": 4.0, "net/b": 6.0, "net/out": 1.0}, inputs=lost)
    assert "exploding-gradients" not in found(run_of([reading(1, NAN, bad=True, weights=nowhere)], broken=usual))


def test_data_that_nobody_saw_is_not_called_finite() -> None:
    recorded = [("recorder", {"pid": 7}), ("gradients", made()), ("numbers", reading(1)), ("numbers", reading(4))]
    recorded += [("bad-number", bad()), ("end", {"code": 0, "seconds": 60.0})]
    run = Run("made-up", events=tuple(written(10.0 + at, kind, data) for at, (kind, data) in enumerate(recorded)))
    finding = found(run)["invalid-loss-math"]
    assert finding.confidence is Confidence.POSSIBLE
    assert "finite data" not in finding.cause


def test_words_that_another_model_looks_up_are_not_unscaled() -> None:
    words = {"shape": [32, 12], "dtype": "int64", "low": 0.0, "high": 299.0, "mean": 150.0, "std": 80.0, "whole": True}
    assert "unscaled-inputs" not in found(run_of(steady(), x=words))
    assert "unscaled-inputs" in found(run_of(steady(), x={**words, "shape": [32, 8]})), "the first layer takes these"


def test_the_rate_of_compile_holds_where_none_was_seen_later() -> None:
    compiled = {"id": 1, "optimizer": {"class": "Adam", "learning_rate": 0.5, "momentum": 0.9}}
    run = run_of(
        [reading(1, rate=None)], optimizer={"class": "LossScaleOptimizer", "inner": "SGD", "learning_rate": None}
    )
    site = last_site(Run("made-up", events=(written(9.0, "fit", compiled), *run.events)))
    assert site is not None
    assert (site.rate(site.readings[0]), site.optimizer.momentum, site.optimizer_class) == (0.5, 0.9, "SGD")


def test_a_layer_that_has_no_gradient_at_all_is_not_one_whose_gradient_is_0() -> None:
    none = {"grads": {"net/a": None, "net/b": 0.1, "net/out": 0.2}, "dead": {"net/b/kernel": 0.0}}
    assert "dead-activations" in found(run_of(steady(grads=none["grads"] | {"net/a": 0.0})))
    assert "dead-activations" not in found(run_of(steady(**none)))


def test_traces_of_one_place_are_one_site() -> None:
    """A last batch that is smaller is traced anew; a trace that never ran is left out."""
    events = [written(1.0 + n, "gradients", made(site=n)) for n in (1, 2, 3)]
    events += [written(5.0 + n, "numbers", reading(10 * n) | {"site": n}) for n in (2, 1)]
    events += [written(6.5, "numbers", reading(15) | {"site": 1, "weights": {}})]
    events += [written(9.0, "batch", {"site": n, "batches": 9 - n, "tensors": {"x": {"mean": n}}}) for n in (1, 2)]
    (site,) = sites(Run("made-up", tuple(events)))
    assert [reading.step for reading in site.readings] == [10, 15, 20]
    assert site.readings[1].weights == site.readings[0].weights, "not read in this step: those read before hold"
    assert site.tensors["x"].mean == 1
