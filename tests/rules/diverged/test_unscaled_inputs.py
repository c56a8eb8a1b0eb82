"""unscaled-inputs: indices that another model looks up are not unscaled."""

from __future__ import annotations

from tests.rules.diverged.steps import found, run_of, steady


def test_words_that_another_model_looks_up_are_not_unscaled() -> None:
    words = {"shape": [32, 12], "dtype": "int64", "low": 0.0, "high": 299.0, "mean": 150.0, "std": 80.0, "whole": True}
    assert "unscaled-inputs" not in found(run_of(steady(), x=words))
    assert "unscaled-inputs" in found(run_of(steady(), x={**words, "shape": [32, 8]})), "the first layer takes these"
