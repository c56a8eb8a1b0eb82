"""time-limit-reached: a SIGTERM near the end that the scheduler had set."""

from __future__ import annotations

import pytest

from tests.rules.runs import diagnosed, event


@pytest.mark.parametrize(("left", "rule"), [(20.0, "time-limit-reached"), (4000.0, "terminated")])
def test_sigterm_near_the_end_that_slurm_had_set(left: float, rule: str) -> None:
    limits = event(0.2, "limits", job_ends=90.0 + left)
    came = event(90.0, "signal", signal="SIGTERM", sender={"pid": 3, "name": "slurmstepd"})
    diagnosis = diagnosed(limits, came, code=None, signal="SIGTERM")
    assert diagnosis.findings[0].rule == rule
