"""Made-up runs that are slow or stuck, and what the stalled rules find in them."""

from __future__ import annotations

from typing import Any

from laststep.analysis.finding import Diagnosis, Finding
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.record.sample import Sample, decode_sample
from laststep.rules.diagnose import diagnose
from tests.supervisor.stuck import LOAD, TRAIN, event, steps


def found(run: Run) -> dict[str, Finding]:
    return {finding.rule: finding for finding in healthy_rules(diagnose(run)).findings if finding.symptom == "stalled"}


def healthy_rules(diagnosis: Diagnosis) -> Diagnosis:
    failed = [(item.rule, item.because) for item in diagnosis.unchecked if "rule itself failed" in item.because]
    assert failed == []
    return diagnosis


def sampled(fields: list[dict[str, Any]]) -> list[Sample]:
    return [decode_sample(each) for each in fields]


def training(samples: list[dict[str, Any]], *more: Event) -> Run:
    began = [event(99.0, "run", command=["python"], environment={}), event(99.1, "recorder", pid=77)]
    fit = event(99.2, "fit", id=1, epochs=3, where=TRAIN, data={"stages": [{"stage": "Map", "python": True,
                "function": "load", "where": LOAD, "called_at": TRAIN}]})  # fmt: skip
    events = sorted([*began, fit, *more], key=lambda e: e.time)
    return Run(id="r", events=tuple(events), steps=steps(), samples=sampled(samples), alive=True)
