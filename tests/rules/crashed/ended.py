"""A run that ended with one exception, and what else was recorded about it."""

from __future__ import annotations

from typing import Any

from laststep.analysis.finding import Diagnosis
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.rules.diagnose import diagnose
from tests.written import written

LINE = {"file": "/home/anna/train.py", "line": 20, "text": "model.fit(ds, epochs=3)"}


def raised(type: str, message: str, *frames: dict[str, Any]) -> Event:
    """The exception that ended the program."""
    fields = {"left": "program", "type": type, "bases": ["Exception"], "message": message}
    return written(60.0, "exception", fields | {"frames": list(frames), "where": LINE})


def ended(*events: Event, **more: Any) -> Diagnosis:
    began = [
        written(0.0, "run", {"command": ["python", "train.py"], "cwd": "/home/anna"}),
        written(0.1, "recorder", {"pid": 7}),
    ]
    end = written(99.0, "end", {"code": 1, "pid": 7, "seconds": 99.0})
    ordered = sorted([*began, *events, end], key=lambda event: event.time)
    return diagnose(Run(id="r", events=tuple(ordered), **more))


def says(diagnosis: Diagnosis) -> list[str]:
    return [item.says for item in diagnosis.findings[0].evidence]
