"""A finding has evidence, and a confidence that means one sentence."""

from __future__ import annotations

import pytest

from laststep.analysis.finding import Confidence, Finding


def test_a_finding_without_evidence_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="guess"):
        Finding("because", Confidence.CERTAIN, ())


def test_each_confidence_word_means_one_sentence() -> None:
    assert {word.name: word.meaning for word in Confidence} == {
        "POSSIBLE": "consistent with the record, as other causes are",
        "LIKELY": "measured, and nothing recorded speaks against it",
        "CERTAIN": "the operating system or the framework said so",
        "PROVEN": "an experiment we ran confirmed it",
    }
