"""Rules on written-down runs: the cases that are hard to have for real, and the lines between neighbours."""

from __future__ import annotations

from typing import Any

import pytest

from laststep.analysis.finding import Confidence, Diagnosis, Evidence, Finding
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.record.sample import Sample
from laststep.record.steps import Step
from laststep.rules.diagnose import diagnose
from laststep.rules.rule import Answer, rule
from tests.written import sample, written

GB = 10**9
NAN = float("nan")


def event(time: float, kind: str, /, **data: Any) -> Event:
    return written(
        time, kind, data, "recorder" if kind in ("recorder", "exiting", "fit", "exception") else "supervisor"
    )


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


def test_the_groups_counter_decides_without_a_kernel_log() -> None:
    diagnosis = killed(*limits(3, no_kernel_log_because="no"), aftermath(4, 1))
    assert first(diagnosis) == ("host-out-of-memory", Confidence.CERTAIN)
    assert diagnosis.outcome == "crashed"
    assert [finding.rule for finding in diagnosis.findings] == ["host-out-of-memory"]


def test_the_kernels_own_line_decides() -> None:
    line = event(9.5, "kernel", line="Out of memory: Killed process 77 (python) total-vm:1kB")
    assert first(killed(*limits(), aftermath(0, 1), line)) == ("host-out-of-memory", Confidence.CERTAIN)


def test_a_line_about_another_process_does_not() -> None:
    line = event(9.5, "kernel", line="Out of memory: Killed process 4242 (firefox) total-vm:1kB")
    diagnosis = killed(*limits(), aftermath(0, 1), line)
    assert first(diagnosis) == ("killed-by-signal", Confidence.CERTAIN)
    assert diagnosis.outcome == "stopped"


def test_sigkill_with_quiet_counters_is_not_memory() -> None:
    diagnosis = killed(*limits(), aftermath())
    assert first(diagnosis)[0] == "killed-by-signal"
    [out] = [item for item in diagnosis.ruled_out if item.rule == "host-out-of-memory"]
    assert out.measured
    assert "peaked at 400 MB" in out.because
    assert "did not change" in out.because


def test_a_kill_somewhere_on_the_machine_is_only_likely_or_possible() -> None:
    none = {"no_kernel_log_because": "not permitted"}
    near = samples(0.5 * GB, 0.97 * GB)
    assert first(killed(*limits(**none), aftermath(0, 1), sampled=near)) == ("host-out-of-memory", Confidence.LIKELY)
    far = killed(*limits(**none), aftermath(0, 1))
    rules = {finding.rule: finding.confidence for finding in far.findings}
    assert rules["host-out-of-memory"] is Confidence.POSSIBLE


def test_where_nothing_can_be_read_it_is_said_and_not_guessed() -> None:
    diagnosis = killed(
        event(0.0, "limits", machine_kills=None, no_kernel_log_because="no"), event(9.0, "aftermath", groups=[])
    )
    assert "host-out-of-memory" in [item.rule for item in diagnosis.unchecked]
    assert first(diagnosis)[0] == "killed-by-signal"


def test_a_record_that_breaks_off_at_the_limit_is_likely_memory() -> None:
    events = (event(0.0, "run", command=["python"]), event(0.1, "recorder", pid=77))
    near = diagnose(Run(id="r", events=events, samples=samples(0.5 * GB, 0.98 * GB)))
    assert first(near) == ("host-out-of-memory", Confidence.LIKELY)
    assert near.outcome == "crashed"
    far = diagnose(Run(id="r", events=events, samples=samples(0.2 * GB, 0.3 * GB)))
    assert first(far) == ("killed-by-signal", Confidence.LIKELY)
    assert far.outcome == "stopped"


def test_137_from_a_shell_is_a_kill_inside_it() -> None:
    shell = event(10.0, "end", signal=None, code=137, pid=5, seconds=10.0)
    assert first(killed(*limits(), aftermath(1, 1), end=shell))[0] == "host-out-of-memory"
    assert first(killed(*limits(), aftermath(), end=shell))[0] == "killed-by-signal"


def test_growth_with_every_step_is_told_from_one_big_jump() -> None:
    sampled = samples(*(i * 0.1 * GB for i in range(10)))
    steps = [Step(i + 1, i / 10, 0.1, NAN, 1.0, NAN, 0, i, 1) for i in range(100)]
    events = (
        event(0.0, "run", command=["python"]),
        event(0.1, "recorder", pid=77),
        *limits(),
        aftermath(1, 1),
        event(10.0, "end", signal="SIGKILL", code=None, pid=77, seconds=10.0),
    )
    grown = diagnose(Run(id="r", events=events, samples=sampled, steps=steps)).findings[0]
    assert any("per step" in item.says for item in grown.evidence)
    assert "keeps memory in every step" in grown.remedies[0].does
    at_once = diagnose(Run(id="r", events=events, samples=sampled)).findings[0]
    assert not any("per step" in item.says for item in at_once.evidence)


def test_sigterm_that_was_handled_and_did_not_end_it() -> None:
    arrived = event(3.0, "signal", signal="SIGTERM", by="process", sender={"pid": 5, "name": "slurmd"})
    end = event(10.0, "end", signal=None, code=0, pid=77, seconds=10.0)
    assert killed(arrived, event(9.9, "exiting"), end=end).findings == ()
    fit = event(1.0, "fit", id=1, epochs=10)
    stopped = killed(fit, arrived, event(9.9, "exiting"), end=end)
    assert first(stopped) == ("terminated", Confidence.CERTAIN)
    assert "slurmd" in stopped.findings[0].cause


def test_a_rule_that_crashes_is_a_result_and_the_others_go_on() -> None:
    def broken(run: Run) -> Answer:
        raise ZeroDivisionError("oh")

    def fine(run: Run) -> Answer:
        return Finding("x", Confidence.LIKELY, (Evidence("y"),))

    diagnosis = diagnose(Run(id="r", events=(event(0.0, "run"),)), [rule()(broken), rule()(fine)])
    assert [finding.rule for finding in diagnosis.findings] == ["fine"]
    assert "ZeroDivisionError" in diagnosis.unchecked[0].because


def test_a_finding_without_evidence_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="guess"):
        Finding("because", Confidence.CERTAIN, ())


def test_each_confidence_word_means_one_sentence() -> None:
    assert {word.name: word.meaning for word in Confidence} == {
        "POSSIBLE": "consistent with the record, as other causes are",
        "LIKELY": "measured, and nothing recorded speaks against it",
        "CERTAIN": "the operating system or the framework said so",
        "PROVEN": "an experiment we ran confirmed it",
    }


def test_an_error_that_was_caught_and_tried_again_with_success_is_not_swallowed() -> None:
    place = {"file": "train.py", "line": 3, "text": "except ValueError:"}
    events = [
        event(1.0, "fit", id=1, epochs=2),
        event(
            2.0,
            "exception",
            left="fit",
            function="fit",
            type="ValueError",
            bases=["ValueError"],
            message="m",
            caught=place,
        ),
    ]
    end = event(10.0, "end", signal=None, code=0, pid=77, seconds=10.0)
    assert first(killed(*events, event(9.0, "exiting"), end=end))[0] == "callback-swallowed"
    again = [
        event(3.0, "fit", id=2, epochs=1),
        written(4.0, "epoch", {"fit": 2, "epoch": 0}, "recorder"),
        written(5.0, "fit-end", {"id": 2}, "recorder"),
    ]
    assert killed(*events, *again, event(9.0, "exiting"), end=end).findings == ()
