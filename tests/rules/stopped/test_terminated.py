"""terminated: a SIGTERM that ended training, and one that was handled."""

from __future__ import annotations

from laststep.analysis.finding import Confidence
from tests.rules.runs import event, first, killed


def test_sigterm_that_was_handled_and_did_not_end_it() -> None:
    arrived = event(3.0, "signal", signal="SIGTERM", by="process", sender={"pid": 5, "name": "slurmd"})
    end = event(10.0, "end", signal=None, code=0, pid=77, seconds=10.0)
    assert killed(arrived, event(9.9, "exiting"), end=end).findings == ()
    fit = event(1.0, "fit", id=1, epochs=10)
    stopped = killed(fit, arrived, event(9.9, "exiting"), end=end)
    assert first(stopped) == ("terminated", Confidence.CERTAIN)
    assert "slurmd" in stopped.findings[0].cause
