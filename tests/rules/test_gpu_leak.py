"""A GPU that fills up because the program keeps tensors on it, and one for which a single step is too much."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from laststep.analysis.finding import Diagnosis
from laststep.record.event import Event
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.record.steps import Step
from laststep.recorder.memory_census import take_census
from laststep.recorder.probes import census as probe
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


def census(time: float, step: int, length: int, size: int, **more: Any) -> Event:
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


def test_the_list_is_the_root_and_the_full_gpu_its_consequence() -> None:
    diagnosis = died(*GROWS, census(15.0, 41, 41, 2000))
    assert rules(diagnosis)[:2] == ["tensors-accumulating", "gpu-out-of-memory"]
    first = diagnosis.findings[0]
    assert first.where == Place(**LINE)
    assert "`history` keeps tensors on the GPU" in first.cause
    assert "about 50 MB per step" in first.evidence[0].says


def test_two_censuses_are_compared() -> None:
    diagnosis = died(*GROWS, census(11.0, 11, 10, 500), census(FULL, 41, 40, 2000))
    assert rules(diagnosis)[0] == "tensors-accumulating"
    assert "list) holds 40 elements of 50 MB each" in diagnosis.findings[0].evidence[1].says


OTHERS = {
    "flat memory": (*FLAT, census(15.0, 41, 41, 2000)),
    "the first step": (*usage(600, 2600, every=1), census(12.0, 2, 40, 2000)),
    "data that was there before": (*GROWS, census(15.0, 41, 5000, 2000)),
    "a list that holds little of it": (*GROWS, census(15.0, 41, 41, 100)),
    "a deque with a bound": (*GROWS, census(15.0, 41, 41, 2000, most=50)),
    "no tensors": (*GROWS, census(15.0, 41, 41, 2000, holds="str")),
    "nothing measured on the GPU": (census(15.0, 41, 41, 2000),),
    "no census of containers": GROWS,
}


@pytest.mark.parametrize("events", OTHERS.values(), ids=OTHERS)
def test_else_it_is_the_step_that_does_not_fit(events: tuple[Event, ...]) -> None:
    assert rules(died(*events))[0] == "gpu-out-of-memory"


def test_a_census_after_the_gpu_was_full_does_not_count() -> None:
    late = written(16.0, "census", {"step": 41, "counts": {}, "freed": None, "containers": []})
    assert rules(died(*GROWS, census(15.0, 41, 41, 2000), late))[0] == "tensors-accumulating"


def test_growth_without_an_owner_is_still_the_root() -> None:
    diagnosis = died(*usage(*range(600, 3000, 100)))
    assert rules(diagnosis)[:2] == ["gpu-memory-growing", "gpu-out-of-memory"]


@pytest.mark.parametrize(
    ("held", "grows"),
    [
        ([500, 600, 700, 800, 900, 1000, 1100, 1200], True),
        ([500, 900, 600, 1000, 700, 1100, 800, 1200], True),
        ([500, 600, 700, 800, 900, 1000, 1100], False),
        ([500, 900, 900, 900, 900, 900, 900, 900], False),
        ([5000, 5010, 5020, 5030, 5040, 5050, 5060, 5070], False),
    ],
)
def test_a_gpu_whose_minima_rise_is_worth_a_census(held: list[int], grows: bool) -> None:
    assert probe._rises([each * MB for each in held]) is grows


def test_the_frames_that_an_error_passed_are_in_the_census() -> None:
    kept = [bytearray(100_000) for _ in range(50)]

    def names(*frames: Any) -> set[str]:
        return {entry["name"] for entry in take_census(frames)["containers"] if entry["length"] == len(kept)}

    assert "kept" in names(sys._getframe())
    assert "kept" not in names()
