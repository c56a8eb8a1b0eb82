"""exploding-gradients: steps that were not seen, and weights initialised far too large."""

from __future__ import annotations

from tests.rules.diverged.steps import HOLE, INF, LAYERS, NAN, bad, found, reading, run_of


def test_sgd_that_was_not_seen_between_may_have_blown_up_or_not() -> None:
    findings = found(run_of([], broken=bad(6, loss=INF)))
    assert {name: finding.confidence.name for name, finding in findings.items()} == {
        "exploding-gradients": "POSSIBLE", "invalid-loss-math": "POSSIBLE"}  # fmt: skip


def test_weights_drawn_far_too_large_blow_up_at_once() -> None:
    nowhere = dict.fromkeys(LAYERS, NAN)
    lost = {"y_pred": HOLE | {"nan": 256}}
    large = bad(1, weights={"net/a": 4.0, "net/b": 60.0, "net/out": 1.0}, inputs=lost)
    run = run_of([reading(1, NAN, NAN, NAN, bad=True)], broken=large)
    assert "the weights of net/b had 10.6 times the usual initial norm" in found(run)["exploding-gradients"].cause
    assert "invalid-loss-math" in found(run_of([reading(1, NAN, NAN, NAN, bad=True)], broken={**large, "inputs": {}}))
    usual = bad(1, weights={"net/a": 4.0, "net/b": 6.0, "net/out": 1.0}, inputs=lost)
    assert "exploding-gradients" not in found(run_of([reading(1, NAN, bad=True, weights=nowhere)], broken=usual))
