"""Made-up runs that were killed, or whose fit ended, and what is found in them."""

from __future__ import annotations

from typing import Any

from laststep.analysis.finding import Confidence, Diagnosis
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.record.sample import Sample
from laststep.rules.diagnose import diagnose
from tests.written import sample, written

GB = 10**9
NAN = float("nan")
LINE = {"file": "/home/anna/train.py", "line": 20, "text": "model.fit(ds, epochs=3)"}
MADE = {"file": "/home/anna/train.py", "line": 12, "text": "ds = ds.shuffle(100_000).batch(32)"}
FROM_OUTSIDE = ("run", "limits", "aftermath", "kernel", "signal", "end")


def event(time: float, kind: str, /, **data: Any) -> Event:
    return written(time, kind, data, "supervisor" if kind in FROM_OUTSIDE else "recorder")


def limits(kills: int = 0, machine: int | None = 0, **more: Any) -> list[Event]:
    groups = [{"group": "/job", "limit": GB, "kills": kills}]
    return [event(0.0, "limits", machine_kills=machine, **more), event(0.0, "limits", groups=groups)]


def aftermath(kills: int = 0, machine: int | None = 0) -> Event:
    return event(9.0, "aftermath", groups=[{"group": "/job", "limit": GB, "kills": kills}], machine_kills=machine)


def samples(*used: float, limit: float = GB) -> list[Sample]:
    host = {"total": 64 * GB, "available": 32 * GB}
    return [sample(float(i), rss=u, group={"used": u, "limit": limit}, host=host) for i, u in enumerate(used)]


def killed(*extra: Event, sampled: list[Sample] | None = None, end: Event | None = None) -> Diagnosis:
    began = [event(0.0, "run", command=["python", "train.py"]), event(0.1, "recorder", pid=77)]
    last = [end] if end else [event(10.0, "end", signal="SIGKILL", code=None, pid=77, seconds=10.0)]
    events = sorted([*began, *extra, *last], key=lambda e: e.time)
    return diagnose(Run(id="r", events=tuple(events), samples=sampled or samples(0.3 * GB, 0.4 * GB)))


def first(diagnosis: Diagnosis) -> tuple[str, Confidence]:
    return diagnosis.findings[0].rule, diagnosis.findings[0].confidence


def fit(done: list[dict[str, Any]], end: dict[str, Any] | None = None, **asked: Any) -> list[Event]:
    """One fit with these epochs; with an end, or without."""
    asked = {"id": 1, "epochs": len(done), "where": LINE} | asked
    epochs = [event(1.0 + n, "epoch", fit=1, epoch=n, **data) for n, data in enumerate(done)]
    return [event(0.5, "fit", **asked), *epochs, *([event(50.0, "fit-end", id=1, **end)] if end is not None else [])]


def diagnosed(*events: Event, code: int | None = 0, signal: str | None = None, **more: Any) -> Diagnosis:
    began = [event(0.0, "run", command=["python", "train.py"], cwd="/home/anna"), event(0.1, "recorder", pid=7)]
    end = event(99.0, "end", code=code, signal=signal, pid=7, seconds=99.0)
    ordered = sorted([*began, *events, end], key=lambda e: e.time)
    return diagnose(Run(id="r", events=tuple(ordered), **more))


def says(diagnosis: Diagnosis) -> str:
    return " | ".join(item.says for item in diagnosis.findings[0].evidence)


def error(kind: str, message: str, **more: Any) -> Event:
    fields = {"left": "program", "type": kind, "bases": [kind.rsplit(".", 1)[-1], "Exception"], "message": message}
    return event(60.0, "exception", where=LINE, frames=[], **fields, **more)
