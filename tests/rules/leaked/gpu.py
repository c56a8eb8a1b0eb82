"""Made-up runs that died of a full GPU, with what the allocator and a census of containers said."""

from __future__ import annotations

from typing import Any

from laststep.analysis.finding import Diagnosis
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.record.steps import Step
from laststep.rules.diagnose import diagnose
from tests.written import written

MB = 1_000_000
FULL = 14.0  # when the allocator has no memory left
OOM = (
    "OOM when allocating tensor with shape[64,30752] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by "
    "allocator GPU_0_bfc [Op:Mul]"
)
LINE: dict[str, Any] = {"file": "/home/anna/train.py", "line": 14, "text": "history.append((loss, grads))"}


def usage(*used: int, every: int = 10) -> list[Event]:
    """What the allocator had in use, measured once a second, so many steps apart."""
    measured = [
        {"step": 1 + number * every, "gpus": [{"gpu": 0, "current": each * MB}]} for number, each in enumerate(used)
    ]
    return [written(10.0 + number, "census", fields) for number, fields in enumerate(measured)]


FLAT = usage(2400, 2410, 2400, 2410, 2400)
GROWS = usage(600, 1100, 1600, 2100, 2600)


def containers(time: float, step: int, length: int, size: int, **more: Any) -> Event:
    entry = {"name": "history", "file": LINE["file"], "length": length, "bytes": size * MB, "holds": "EagerTensor"}
    entry |= {"kind": "list", "most": None, "where": LINE} | more
    fields = {"step": step, "counts": {}, "freed": None, "containers": [entry]}
    return written(time, "census", fields | ({"exhausted": True} if time >= FULL else {}))


def died(*events: Event, message: str = OOM) -> Diagnosis:
    raised = {"type": "tensorflow.python.framework.errors_impl.ResourceExhaustedError", "message": message}
    recorded = [
        written(0.0, "run", {"command": ["python", "train.py"]}),
        written(1.0, "recorder", {"pid": 1}),
        *events,
        written(90.0, "exception", raised | {"left": "program", "bases": ["OpError"]}),
        written(91.0, "end", {"code": 1, "signal": None}),
    ]
    steps = [Step(number, 10.0 + number / 10, 0.1, 0.0, 1.0, 0.1, 0, number, 1) for number in range(1, 101)]
    return diagnose(Run(id="r", events=tuple(sorted(recorded, key=lambda event: event.time)), steps=steps))


def rules(diagnosis: Diagnosis) -> list[str]:
    return [finding.rule for finding in diagnosis.findings]
