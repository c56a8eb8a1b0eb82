"""The few lines for a run that is stuck: what, how long, where, what is done about it; 80 columns."""

from __future__ import annotations

import pytest

from laststep.record.run import Run
from laststep.reports.notice import stall_notice
from laststep.rules.diagnose import diagnose
from tests.supervisor.stuck import LIB, SNAPSHOTS, TRAIN, event, frame, main, run_of, snapshot, stuck_run, thread

LONG = frame("/home/me/" + "a_long_folder_name/" * 6 + "train.py", "f", 9, "requests.get(" + "'x' + " * 60 + "'y')")


def notice(run: Run, action: str = "warn") -> str:
    return stall_notice(diagnose(run), action)


@pytest.mark.parametrize("action", ["warn", "stacks", "stop", "restart"])
@pytest.mark.parametrize("cause", SNAPSHOTS)
def test_a_few_lines_within_80_columns(cause: str, action: str) -> None:
    lines = notice(run_of(cause), action).splitlines()
    assert lines[0] == ""
    assert lines[1] == "laststep: no progress for 30 s"
    assert lines[2].strip().startswith(f"{cause}: ")
    assert all(len(line) <= 80 for line in lines), max(lines, key=len)
    assert len(lines) <= (14 if action != "stacks" else 40)
    assert notice(run_of(cause), action).endswith("\n")


def test_the_line_itself_is_shown() -> None:
    text = notice(run_of("callback-blocked"))
    assert "upload.py:7  requests.post(url)" in text


@pytest.mark.parametrize(
    "action,words",
    [
        ("warn", "The program was not stopped. More: laststep why"),
        ("stacks", "The program was not stopped."),
        ("stop", "It is being stopped (--on-stall stop)."),
        ("restart", "It is being stopped and restarted (--on-stall restart)."),
    ],
)
def test_it_says_what_is_done_about_it(action: str, words: str) -> None:
    assert notice(run_of("python-blocked"), action).splitlines()[-1].strip() == words


def test_all_stacks_when_asked_for() -> None:
    run = run_of("input-blocked")
    text = notice(run, "stacks")
    for line in ("thread MainThread:", "thread Thread-1:", "/home/me/load.py:12 in produce", "queue.py:171 in get"):
        assert line in text
    assert "thread MainThread:" not in notice(run, "warn")


def test_no_cause_is_said_too() -> None:
    text = notice(stuck_run(snapshot(main(frame(f"{LIB}/site-packages/x.py"))), steps=[]))
    assert "No cause found" in text
    assert "no progress for 30 s" in text


def test_long_lines_and_paths_are_broken() -> None:
    data = snapshot(main(LONG, TRAIN), phase="loop")
    for action in ("warn", "stacks"):
        lines = notice(stuck_run(data), action).splitlines()
        assert max(map(len, lines)) <= 80, [line for line in lines if len(line) > 80]


def test_nothing_at_all_where_nothing_is_stuck() -> None:
    assert notice(run_of("python-blocked", event(150.0, "moving-again", after=1.0))) == ""
    assert notice(run_of("python-blocked", kind="look")) == ""


def test_a_thread_s_name_cannot_play_tricks_on_the_terminal() -> None:
    data = snapshot(main(TRAIN), thread(TRAIN, name="\x1b[31mred\x07\r\nlaststep: all is well"), phase="loop")
    text = notice(stuck_run(data), "stacks")
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\r" not in text
    assert "\nlaststep: all is well" not in text
