"""Runs whose training was not looked at: what the kept console adds, and what it must not override."""

from __future__ import annotations

from typing import Any

import pytest

from laststep.analysis.finding import Confidence, Diagnosis
from laststep.analysis.unseen import unseen_of
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.reports import json as json_report
from laststep.reports import terminal
from laststep.rules.diagnose import diagnose
from tests.rules.runs import event, samples
from tests.written import sample

NAN_EPOCHS = "".join(f"Epoch {n}/3\n2/2 - 0s - 20ms/step - loss: nan\n" for n in (1, 2, 3))
GOOD_EPOCHS = "".join(f"Epoch {n}/3\n2/2 - 0s - 20ms/step - loss: {1 / n}\n" for n in (1, 2, 3))
CRASH = (
    "Epoch 1/3\nTraceback (most recent call last):\n"
    '  File "/home/anna/worker.py", line 5, in <module>\n    m.fit(x, y)\n'
    "ValueError: Input 0 with name 'None' of layer 'dense' is incompatible with the layer: expected axis -1 of input "
    "shape to have value 4, but received input with shape (32, 5)\n"
)
CRASH_OF_FILE = (
    'Traceback (most recent call last):\n  File "/home/anna/worker.py", line 5, in <module>\n    open("x.csv")\n'
    "FileNotFoundError: [Errno 2] No such file or directory: 'x.csv'\n"
)
OWN_ERROR = {"left": "program", "bases": ["Exception"], "frames": []}
BLIND = event(
    9.0, "blind", because="python -I ignores PYTHONPATH", does="Leave it out", instead="laststep run python t.py"
)
RECORDER = event(0.1, "recorder", pid=7)
KERAS = event(0.2, "versions", keras="3.15.1", tensorflow="2.21.0")
CHILD = event(3.0, "child", pid=8, command=["python", "worker.py", "--rank", "0"])


def asked(*events: Event, console: str = "", code: int = 0, **more: Any) -> Diagnosis:
    began = event(0.0, "run", command=["python", "launcher.py"], cwd="/home/anna")
    end = event(99.0, "end", code=code, signal=None, pid=7, seconds=99.0)
    ordered = sorted([began, *events, end], key=lambda each: each.time)
    return diagnose(Run(id="r", events=tuple(ordered), console=console, **{"samples": samples(1e6, 2e6), **more}))


def rules(diagnosis: Diagnosis) -> list[str]:
    return [finding.rule for finding in diagnosis.findings]


@pytest.mark.parametrize("events", [[BLIND], [RECORDER, CHILD], [RECORDER]], ids=["closed", "child", "console alone"])
def test_nan_in_each_epoch_of_the_console_is_found(events: list[Event]) -> None:
    diagnosis = asked(*events, console=NAN_EPOCHS)
    assert rules(diagnosis) == ["nan-loss"]
    assert any("the console shows epoch 3 of 3" in item.says for item in diagnosis.findings[0].evidence)
    assert not any("the log" in item.says for item in diagnosis.findings[0].evidence)
    assert not any("laststep run" in (each.change or "") for each in diagnosis.findings[0].remedies)


@pytest.mark.parametrize("code", [0, 1])
def test_the_error_of_a_child_comes_before_the_exit_of_its_launcher(code: int) -> None:
    left = [event(98.0, "exit-call", how="sys.exit", status=1, where={"file": "/home/anna/launcher.py", "line": 4})]
    diagnosis = asked(
        RECORDER, CHILD, *(left if code else []), console=CRASH_OF_FILE + "worker exited with 1\n", code=code
    )
    assert rules(diagnosis)[0] == "missing-file"
    assert sorted(rules(diagnosis)[1:]) == [*(["script-exited"] if code else []), "unhandled-exception"]
    first = diagnosis.findings[0]
    assert first.confidence is (Confidence.CERTAIN if code else Confidence.LIKELY), "a status that says so, or none"
    assert any(item.says.startswith("the console, line ") for item in first.evidence)
    assert diagnosis.outcome == ("crashed" if code else "finished")


def test_the_error_of_a_child_comes_before_that_of_a_launcher_that_checks_it() -> None:
    error = event(98.0, "exception", type="subprocess.CalledProcessError", message="Command … returned 1", **OWN_ERROR)
    printed = CRASH + 'Traceback (most recent call last):\n  File "launcher.py", line 2, in <module>\n    run()\n'
    printed += "subprocess.CalledProcessError: Command … returned 1\n"
    diagnosis = asked(RECORDER, CHILD, error, console=printed, code=1)
    assert rules(diagnosis)[:2] == ["shape-mismatch", "unhandled-exception"]
    says = " | ".join(item.says for item in diagnosis.findings[1].evidence)
    assert "Input 0" in says
    assert "CalledProcessError" in says


def test_what_was_recorded_inside_is_not_overridden_by_the_console() -> None:
    """A program that trained prints what looks like another one's failure."""
    began = event(0.5, "fit", id=1, epochs=1)
    ended = [event(2.0, "epoch", fit=1, epoch=0, metrics={"loss": 0.5}), event(3.0, "fit-end", id=1)]
    diagnosis = asked(RECORDER, KERAS, began, *ended, console=NAN_EPOCHS + CRASH)
    assert rules(diagnosis) == []
    assert unseen_of(diagnosis.run) is None
    assert "unseen" not in json_report.as_data(diagnosis)
    assert "Nothing to report." in terminal.page(diagnosis)


def test_an_error_of_its_own_is_not_taken_for_a_childs() -> None:
    message = "[Errno 2] No such file or directory: 'x.csv'"
    error = event(98.0, "exception", type="FileNotFoundError", message=message, **OWN_ERROR)
    several = [sample(1.0, rss=1e6, processes=2)]
    diagnosis = asked(RECORDER, KERAS, error, console=CRASH_OF_FILE, code=1, samples=several)
    assert unseen_of(diagnosis.run) is None
    assert diagnosis.findings[0].confidence is Confidence.CERTAIN


def test_a_traceback_that_a_program_without_children_prints_is_its_own_business() -> None:
    diagnosis = asked(RECORDER, console=CRASH.partition("\n")[2])
    assert rules(diagnosis) == []
    assert "No training was seen" in terminal.page(diagnosis)


def test_an_evaluation_is_no_training() -> None:
    bar = "4/4 ━━━━━━━━━━━━━━━━━━━━ 0s 9ms/step - accuracy: 0.5 - loss: 0.7\n"
    unseen = unseen_of(asked(RECORDER, KERAS, console=bar * 2).run)
    assert unseen is not None
    assert unseen.kind == "no-training"
    assert "Keras 3.15.1 and TensorFlow 2.21.0 were loaded" in unseen.because


def test_memory_that_was_measured_is_not_contradicted_by_the_console() -> None:
    diagnosis = asked(BLIND, console=GOOD_EPOCHS + "Killed\nslurmstepd: error: Detected 1 oom-kill event(s)\n")
    assert "host-out-of-memory" not in rules(diagnosis)
    assert "host-out-of-memory" in [item.rule for item in diagnosis.ruled_out]


@pytest.mark.parametrize(
    "events,kind,head",
    [
        ([BLIND], "closed", "laststep could not look inside: python -I ignores PYTHONPATH."),
        ([RECORDER, CHILD], "elsewhere", "The training was not recorded: TensorFlow was loaded in a child process"),
        ([RECORDER], "no-training", "No training was seen: the program called no fit"),
    ],
)
def test_nothing_was_looked_at_is_an_answer_of_its_own(events: list[Event], kind: str, head: str) -> None:
    diagnosis = asked(*events)
    page = " ".join(terminal.page(diagnosis).split())
    note = terminal.finished_note(diagnosis, 80)
    for text in (page, note):
        assert "othing to report" not in text
        assert "the exit code (0)" in " ".join(text.split())
    assert head in page
    assert json_report.as_data(diagnosis)["unseen"]["kind"] == kind
    assert max(map(len, note.splitlines())) <= 80


def test_the_line_to_type_is_on_every_page() -> None:
    diagnosis = asked(RECORDER, CHILD)
    line = "laststep run python worker.py --rank 0"
    assert line in terminal.page(diagnosis)
    assert line in terminal.finished_note(diagnosis, 80)
    assert json_report.as_data(diagnosis)["unseen"]["remedy"]["change"] == line


def test_a_worker_of_multiprocessing_starts_laststep_itself() -> None:
    words = ["python", "-c", "from multiprocessing.spawn import spawn_main; spawn_main(4)", "--multiprocessing-fork"]
    assert "laststep.start()" in terminal.page(asked(RECORDER, event(3.0, "child", pid=8, command=words)))


@pytest.mark.parametrize("events", [[BLIND], [RECORDER, CHILD], [RECORDER]], ids=["closed", "child", "no training"])
def test_a_rule_that_judges_from_inside_denies_nothing(events: list[Event]) -> None:
    diagnosis = asked(*events)
    assert "learning-rate-too-high" in [item.rule for item in diagnosis.unchecked]
    assert "learning-rate-too-high" not in [item.rule for item in diagnosis.ruled_out]


def test_an_old_folder_says_why_in_its_own_words() -> None:
    diagnosis = asked(event(9.0, "blind", because="sh started no Python that could load the recorder"))
    page = " ".join(terminal.page(diagnosis).split())
    assert "could not look inside: sh started no Python" in page
    assert "laststep.start()" in page
