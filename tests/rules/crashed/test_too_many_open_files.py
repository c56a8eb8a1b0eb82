"""too-many-open-files: how many were open, from first to last."""

from __future__ import annotations

from laststep.record.sample import Sample
from tests.rules.crashed.ended import ended, raised

ERROR = raised("OSError", "[Errno 24] Too many open files: '/data/7.png'")


def test_the_number_of_open_files_over_time_is_shown() -> None:
    counts = (12, None, 500, 1020)  # not every sample has it
    diagnosis = ended(ERROR, samples=[Sample(time=float(n), files=count) for n, count in enumerate(counts)])
    first = diagnosis.findings[0]
    assert first.rule == "too-many-open-files"
    [shown] = [item for item in first.evidence if item.curve]
    assert (shown.says, shown.curve) == ("open files: 12 in the first sample, 1020 in the last", (12.0, 500.0, 1020.0))
