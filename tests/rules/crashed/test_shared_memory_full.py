"""shared-memory-full: a bus error with a full /dev/shm, and with an empty one."""

from __future__ import annotations

from laststep.analysis.finding import Confidence
from tests.rules.runs import diagnosed
from tests.written import sample


def test_a_bus_error_with_a_full_shared_memory_is_likely_and_with_an_empty_one_is_not() -> None:
    for free, rule in ((1e6, "shared-memory-full"), (60e6, "bus-error")):
        shm = {"path": "/dev/shm", "free": free, "total": 64e6}
        diagnosis = diagnosed(code=None, signal="SIGBUS", samples=[sample(90.0, rss=1e9, shm=shm)])
        assert diagnosis.findings[0].rule == rule
        if rule == "shared-memory-full":
            assert diagnosis.findings[0].confidence is Confidence.LIKELY
