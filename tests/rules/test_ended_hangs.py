"""A hang that somebody ended, before laststep called it a stall or long after: the hang first, then how it ended."""

from __future__ import annotations

from typing import Any

import pytest

from laststep.analysis.finding import Confidence, Diagnosis
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.record.sample import decode_sample
from laststep.reports import terminal
from laststep.rules.diagnose import diagnose
from tests.rules.stalled.runs import healthy_rules
from tests.supervisor.stuck import SNAPSHOTS, TRAIN, event, frame, main, snapshot, steps, stuck_run

SHORT = 9.0  # seconds without progress when the snapshot was taken, at 140
ENDED = 146.0
WAITS = ("input-blocked", "callback-blocked", "python-blocked", "deadlocked", "disk-stalled")
PUBLISH = frame("/home/me/train.py", "publish", 9, "conn.recv(100)")
KEYBOARD = {"type": "KeyboardInterrupt", "bases": ["KeyboardInterrupt", "BaseException"]}


def by_signal(name: str, sender: str = "bash", kills: bool = True) -> list[Event]:
    said = event(ENDED, "signal", signal=name, by="process", sender={"pid": 5, "name": sender})
    return [said, event(ENDED + 0.2, "end", signal=name if kills else None, code=None if kills else 1, pid=77)]


def by_hand(name: str) -> list[Event]:
    """Straight to the program: the supervisor sees only how it ended."""
    return [event(ENDED, "end", signal=name, code=None, pid=77)]


def by_key() -> list[Event]:
    interrupt = event(ENDED, "exception", left="program", frames=[], where=TRAIN, **KEYBOARD)
    return [interrupt, event(ENDED + 0.5, "end", signal="SIGINT", code=None, pid=77)]


def caught() -> list[Event]:
    interrupt = event(ENDED, "exception", left="fit", caught={**TRAIN, "line": 30}, frames=[], fit=1, **KEYBOARD)
    return [interrupt, event(ENDED + 1.0, "exiting"), event(ENDED + 1.5, "end", code=0, signal=None, pid=77)]


def look(told: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**told, "seconds": SHORT, "slowest": 0.5, "goes_on": True} | more


def ended(told: dict[str, Any], *end: Event, kind: str = "look", **more: Any) -> Diagnosis:
    return healthy_rules(diagnose(stuck_run(told, *end, kind=kind, alive=False, **more)))


def rules(diagnosis: Diagnosis) -> list[str]:
    return [finding.rule for finding in diagnosis.findings]


ENDS = {
    "interrupted": by_signal("SIGINT"),
    "terminated": by_signal("SIGTERM"),
    "killed-by-signal": by_hand("SIGKILL"),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("cause", WAITS)
def test_the_hang_comes_first_and_the_end_follows_from_it(cause: str, end: str) -> None:
    diagnosis = ended(look(SNAPSHOTS[cause]), *ENDS[end])
    assert rules(diagnosis)[0] == cause
    assert {each.rule: each.follows_from for each in diagnosis.findings}[end] == cause
    assert diagnosis.findings[0].evidence[0].says.startswith("no progress for 15 s")


@pytest.mark.parametrize("end", [by_key(), caught(), by_signal("SIGHUP"), by_hand("SIGQUIT")])
def test_whoever_ended_it(end: list[Event]) -> None:
    assert rules(ended(look(SNAPSHOTS["callback-blocked"]), *end))[0] == "callback-blocked"


@pytest.mark.parametrize("cause", WAITS)
def test_a_time_limit_follows_from_the_hang(cause: str) -> None:
    limit = event(99.0, "limits", job_ends=ENDED + 20)
    diagnosis = ended(look(SNAPSHOTS[cause]), limit, *by_signal("SIGTERM", "slurmstepd"))
    assert rules(diagnosis)[:2] == [cause, "time-limit-reached"]
    page = " ".join(terminal.page(diagnosis).split())
    assert "How it ended: the process was asked to terminate (SIGTERM) ← the time limit was reached ← " in page


def test_the_page_says_that_a_kill_ended_the_hang() -> None:
    page = " ".join(terminal.page(ended(look(SNAPSHOTS["callback-blocked"]), *by_hand("SIGKILL"))).split())
    assert "How it ended: SIGKILL ended the process ← training waits for" in page


def test_after_a_wait_that_is_long_for_its_kind_the_hang_is_likely() -> None:
    naps = look(snapshot(main(PUBLISH, TRAIN, call="sleep"), phase="loop", slowest=None))
    assert ended(naps, *by_key()).findings[0].confidence is Confidence.POSSIBLE
    later = [event(170.0, "end", signal="SIGKILL", code=None, pid=77)]
    assert ended(naps, *later).findings[0].confidence is Confidence.LIKELY


def test_a_stall_is_as_long_as_it_was_when_somebody_ended_it() -> None:
    diagnosis = ended(SNAPSHOTS["input-blocked"], event(200.0, "end", signal="SIGKILL", pid=77), kind="stall")
    says = [item.says for item in diagnosis.findings[0].evidence]
    assert says[0].startswith("no progress for 90 s")
    assert "the step has waited for its batch for 89 s" in says


def test_a_ctrl_c_that_tensorflow_does_not_answer_did_not_end_it() -> None:
    pressed = event(142.0, "signal", signal="SIGINT", by="terminal", to_group=True)
    diagnosis = ended(look(SNAPSHOTS["input-blocked"]), pressed, event(200.0, "end", signal="SIGKILL", pid=77))
    assert diagnosis.findings[0].evidence[0].says.startswith("no progress for 69 s")
    page = " ".join(terminal.page(diagnosis).split())
    assert "SIGKILL ended the process ← the program was interrupted (SIGINT) ← training waits for data" in page


NOT_A_HANG = {
    "it computes": look(SNAPSHOTS["python-blocked"], cpu=1.0),
    "slow before": look(SNAPSHOTS["python-blocked"], slowest=6.0),
    "it sleeps for a while": look(snapshot(main(PUBLISH, TRAIN, call="sleep", wakes=30.0), phase="loop")),
    "it asks somebody": look(
        snapshot(main(frame("/home/me/train.py", "ask", 9, 'input("go on? ")'), TRAIN), phase="loop")
    ),
    "nothing more to do": look(SNAPSHOTS["python-blocked"], goes_on=False),
    "not known whether there was more": look(SNAPSHOTS["python-blocked"], goes_on=None),
    "too short": look(SNAPSHOTS["python-blocked"], seconds=1.0),
    "it was stopped (Ctrl-Z)": look(SNAPSHOTS["python-blocked"], state="T"),
    "laststep held it up": look(SNAPSHOTS["python-blocked"], ours=True),
}


@pytest.mark.parametrize("why", NOT_A_HANG)
def test_whoever_ends_what_is_no_hang_interrupts_it(why: str) -> None:
    assert rules(ended(NOT_A_HANG[why], *by_signal("SIGINT")))[0] == "interrupted"


def test_a_training_that_went_on_after_the_snapshot_was_interrupted() -> None:
    more = [*steps(), steps(1)[0]._replace(number=41, time=143.0)]
    assert rules(ended(look(SNAPSHOTS["python-blocked"]), *by_key(), steps=more))[0] == "interrupted"


def beat(time: float, pulse: int) -> dict[str, Any]:
    return {"t": time, "inside": {"phase": "validation", "step": 40, "pulse": pulse}}


@pytest.mark.parametrize(("pulse", "first"), [(5, "callback-blocked"), (6, "interrupted")])
def test_a_validation_that_went_on_is_seen_by_its_pulse(pulse: int, first: str) -> None:
    samples = [decode_sample(each) for each in (beat(139.0, 5), beat(141.0, 5), beat(143.0, pulse), beat(145.0, pulse))]
    assert rules(ended(look(SNAPSHOTS["callback-blocked"]), *by_key(), samples=samples))[0] == first


def test_a_kill_for_memory_is_no_hang() -> None:
    groups = [{"group": "/job", "limit": 10**9, "kills": 0}]
    before = event(99.0, "limits", groups=groups)
    after = event(ENDED + 0.1, "aftermath", groups=[groups[0] | {"kills": 1}])
    diagnosis = ended(look(SNAPSHOTS["python-blocked"]), before, after, *by_hand("SIGKILL"))
    assert rules(diagnosis)[0] == "host-out-of-memory"


def test_a_crash_is_no_hang() -> None:
    assert "python-blocked" not in rules(ended(look(SNAPSHOTS["python-blocked"]), *by_hand("SIGSEGV")))


def test_a_run_that_goes_on_is_no_hang_yet() -> None:
    run: Run = stuck_run(look(SNAPSHOTS["python-blocked"]), kind="look", alive=True)
    assert rules(diagnose(run)) == []
