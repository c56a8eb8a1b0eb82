"""illegal-instruction: which instructions the processor lacks."""

from __future__ import annotations

from tests.rules.runs import diagnosed, event, says


def test_what_the_processor_lacks_is_named() -> None:
    limits = event(0.2, "limits", processor={"model": "Old CPU", "has": ["sse4_2"]})
    diagnosis = diagnosed(limits, code=None, signal="SIGILL")
    assert diagnosis.findings[0].rule == "illegal-instruction"
    assert "(Old CPU) lacks avx, avx2, fma, avx512f" in says(diagnosis)
