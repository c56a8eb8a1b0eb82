"""Made-up samples and censuses of a training, and which leaks are found in them."""

from __future__ import annotations

from typing import Any

from laststep.record.event import Event
from laststep.record.run import Run
from laststep.record.sample import Sample
from laststep.record.steps import Step
from laststep.rules.diagnose import diagnose
from tests.written import sample, written

MB = 1e6
LINE = {"file": "/x/train.py", "line": 31}


def samples(count: int, per_second: float, start: float = 600.0, begin: int = 0) -> list[Sample]:
    """Training steps, ten a second; memory in MB, with some noise."""
    return [
        sample(
            float(begin + t),
            rss=(start + per_second * t) * MB + (t * 7919 % 5) * 0.5 * MB,
            host={"total": 8e9, "available": 6e9 - per_second * t * MB},
            inside={"phase": "step", "step": 10 * (begin + t) + 1},
        )
        for t in range(count)
    ]


def census(t: float, **more: Any) -> Event:
    fields = {"step": int(10 * t), "freed": 0, "counts": {}, "containers": [], **more}
    return written(float(t), "census", fields, "recorder")


def holding(t: float, megabytes: float, kind: str = "list", holds: str = "EagerTensor", most: int = 0) -> Event:
    entry = {"name": "losses", "file": "/x/train.py", "kind": kind, "length": int(10 * t), "bytes": megabytes * MB}
    return census(t, containers=[{**entry, "holds": holds, "most": most, "where": LINE}])


def epochs(*ends: float) -> list[Event]:
    return [written(end, "epoch", {"fit": 1, "epoch": number}, "recorder") for number, end in enumerate(ends)]


def steps_of(found: list[Sample]) -> list[Step]:
    return [Step(each.step, each.time, 0.1, 0.0, 1.0, 0.1, 0, 0, 1) for each in found]


def answered(found: list[Sample], events: list[Event]) -> list[str]:
    run = Run("x", (written(0.0, "recorder", {}), *events), steps_of(found), found)
    return [finding.rule for finding in diagnose(run).findings if finding.symptom == "leaked"]
