"""machine-overloaded on made-up samples."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from laststep.record.steps import Step
from tests.rules.stalled.runs import found, sampled, training
from tests.supervisor.stuck import NAN, SNAPSHOTS, stuck_run


def queued(ran: float, waited: float, used: float, count: int = 8, **more: Any) -> list[dict[str, Any]]:
    """A sample every five seconds: CPU seconds and waiting in each, cores in use by others."""
    top = [{"pid": 4242, "name": "render", "cores": 1.2}]
    others = {"of": 2, "used": used, "top": top if used > 0.6 else []} | more
    return [{"t": 100.0 + 5 * i, "queue": [ran * i, waited * i], "others": others} for i in range(count)]


def test_others_use_the_cores() -> None:
    finding = found(training(queued(1.0, 4.0, 1.9)))["machine-overloaded"]
    said = " | ".join(evidence.says for evidence in finding.evidence)
    assert "20% of the CPU time" in finding.cause
    assert "1.9 of 2 cores" in said
    assert "render (pid 4242, 1.2)" in said
    assert finding.remedies[1].change == "renice -n 10 -p 4242"


def test_others_that_cannot_be_seen_are_not_named() -> None:
    finding = found(training(queued(1.0, 4.0, 1.9, top=[])))["machine-overloaded"]
    assert "not visible from here" in " ".join(evidence.says for evidence in finding.evidence)
    assert finding.remedies[1].change is None


@pytest.mark.parametrize(
    "samples",
    [
        queued(1.0, 4.0, 0.1),  # its own threads or workers use the cores
        queued(4.0, 1.0, 1.9),  # others do, and it gets what it wants all the same
        queued(0.01, 0.04, 1.9),  # it wants next to nothing
        queued(1.0, 4.0, 1.9, count=3),  # a short run
        [*queued(1.0, 4.0, 1.9, count=4), *[s | {"t": s["t"] + 20} for s in queued(4.0, 0.0, 0.0, count=30)]],
        [sample | {"others": None} for sample in queued(1.0, 4.0, 1.9)],
        [sample | {"queue": [1.0]} for sample in queued(1.0, 4.0, 1.9)],
        [sample | {"others": {"of": "2", "used": [], "top": 3}} for sample in queued(1.0, 4.0, 1.9)],
    ],
)
def test_the_machine_is_not_to_blame(samples: list[dict[str, Any]]) -> None:
    assert "machine-overloaded" not in found(training(samples))


def test_steps_got_slower_while_others_used_the_cores() -> None:
    calm = queued(4.0, 0.0, 0.0, count=4)
    later = [
        sample | {"t": sample["t"] + 20, "queue": [16.0 + sample["queue"][0], sample["queue"][1]]}
        for sample in queued(1.0, 4.0, 1.9)
    ]
    quick = [Step(i + 1, 100 + i, 0.1, NAN, 1.0, NAN, 0, i, 1) for i in range(20)]
    slow = [Step(i + 21, 121 + i, 0.5, NAN, 1.0, NAN, 0, i, 1) for i in range(30)]
    run = dataclasses.replace(training([*calm, *later]), steps=[*quick, *slow])
    said = [evidence.says for evidence in found(run)["machine-overloaded"].evidence]
    assert "a step took 5.0 times as long as in the rest of the run" in said


def test_a_stall_on_a_busy_machine_is_the_machines() -> None:
    """Only where a number of seconds was asked for: otherwise it is given more time."""
    starved = SNAPSHOTS["python-blocked"] | {"lost": 28.0, "cpu": 0.04}
    assert list(found(stuck_run(starved, samples=sampled(queued(0.2, 4.8, 1.9))))) == ["machine-overloaded"]
    assert list(found(stuck_run(starved))) == ["python-blocked"], "others are not known to use the cores"
    asleep = SNAPSHOTS["python-blocked"] | {"lost": 1.0}
    assert "python-blocked" in found(stuck_run(asleep, samples=sampled(queued(0.2, 4.8, 1.9))))
