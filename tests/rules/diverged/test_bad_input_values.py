"""bad-input-values: which feature and sample, and a bad step that the program skips."""

from __future__ import annotations

from laststep.analysis.finding import Confidence
from laststep.record.run import Run
from tests.rules.diverged.steps import FIRES, HOLE, NAN, bad, found, reading, run_of, steady
from tests.written import written


def test_the_feature_and_the_sample_are_told() -> None:
    finding = found(FIRES["bad-input-values"]())["bad-input-values"]
    assert "the inputs of step 5: 1 of 256 values is NaN, in feature 3; sample 4" in [e.says for e in finding.evidence]
    assert finding.confidence is Confidence.CERTAIN


def test_a_bad_step_that_the_program_skips_does_no_harm() -> None:
    broken = bad(5, inputs={"x": HOLE})
    run = run_of(steady(1), losses=[1.0, 0.9, 0.8, 0.8, NAN, 0.7, 0.6, 0.5])
    read = written(40.0, "numbers", reading(5, NAN, NAN, 4.0, bad=True), "recorder")
    events = (*run.events, read, written(41.0, "bad-number", broken, "recorder"))
    assert found(Run("made-up", events=events, steps=run.steps)) == {}
