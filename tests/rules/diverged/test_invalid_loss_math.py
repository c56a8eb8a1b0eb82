"""invalid-loss-math: what is blamed on the weights, the labels or the data instead."""

from __future__ import annotations

from laststep.analysis.finding import Confidence
from laststep.record.run import Run
from tests.rules.diverged.steps import COIN, HOLE, bad, found, made, reading, run_of, steady, sure
from tests.written import written


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


def test_data_that_nobody_saw_is_not_called_finite() -> None:
    recorded = [("recorder", {"pid": 7}), ("gradients", made()), ("numbers", reading(1)), ("numbers", reading(4))]
    recorded += [("bad-number", bad()), ("end", {"code": 0, "seconds": 60.0})]
    run = Run("made-up", events=tuple(written(10.0 + at, kind, data) for at, (kind, data) in enumerate(recorded)))
    finding = found(run)["invalid-loss-math"]
    assert finding.confidence is Confidence.POSSIBLE
    assert "finite data" not in finding.cause
