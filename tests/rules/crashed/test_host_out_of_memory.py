"""host-out-of-memory: what the kernel and the counters say, and what had filled the memory."""

from __future__ import annotations

from typing import Any

from laststep.analysis.finding import Confidence, Diagnosis
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.record.steps import Step
from laststep.rules.diagnose import diagnose
from tests.rules.runs import GB, MADE, NAN, aftermath, diagnosed, event, first, fit, killed, limits, samples, says


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


def killed_for_memory(stages: list[dict[str, Any]]) -> Diagnosis:
    group = {"group": "/job", "limit": 4e9}
    data = {"stages": stages, "made_at": MADE}
    return diagnosed(
        event(0.2, "limits", groups=[group | {"kills": 0}]),
        *fit([], epochs=3, data=data),
        event(98.0, "aftermath", groups=[group | {"kills": 1}]),
        code=None,
        signal="SIGKILL",
    )


def test_the_shuffle_buffer_that_holds_the_memory_is_named() -> None:
    diagnosis = killed_for_memory([{"stage": "Shuffle", "buffer_size": 100_000, "bytes": 600_000}])
    first = diagnosis.findings[0]
    assert first.rule == "host-out-of-memory"
    assert "the shuffle buffer of 100,000 elements, 600 KB each, holds 60.0 GB" in says(diagnosis)
    assert (first.remedies[0].change, first.remedies[0].where) == ("ds = ds.shuffle(666).batch(32)", Place(**MADE))


def test_a_small_shuffle_buffer_is_not_blamed() -> None:
    diagnosis = killed_for_memory([{"stage": "Shuffle", "buffer_size": 100, "bytes": 600_000}])
    assert "shuffle" not in says(diagnosis)


def test_a_cache_in_memory_is_named() -> None:
    assert "cache() without a file name keeps every element in memory" in says(killed_for_memory([{"stage": "Cache"}]))
