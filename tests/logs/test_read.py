"""A whole log → a run: several runs in one file, cut and shuffled logs, any bytes, and the page about it."""

from __future__ import annotations

import functools
import io
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laststep.analysis.finding import Diagnosis
from laststep.logs.line_reader import NotALog
from laststep.logs.read import parse_log, parsed_console, run_from_log
from laststep.record.events import KINDS
from laststep.record.events.logs import Log
from laststep.record.run import Run
from laststep.reports import json, terminal
from laststep.rules.diagnose import diagnose
from laststep.rules.rule import all_rules
from tests.logs.printed import (
    IN_USER_CODE,
    LOGS,
    MESSAGES,
    ONE_FIT,
    OPEN_EPOCH,
    OUT_OF_GPU_MEMORY,
    RAN_OUT_2,
    RAN_OUT_3,
    TENSORFLOW_STARTS,
    TRACEBACK,
    answer,
    bar2,
    bar3,
    epochs,
    story,
)

DIED = epochs(1, 3) + TRACEBACK
CHAINED = "\nThe above exception was the direct cause of the following exception:\n\n"
SEVERAL = {
    "each starts TensorFlow": ((TENSORFLOW_STARTS + DIED) * 2 + TENSORFLOW_STARTS + ONE_FIT, 3),
    "the first one was killed": (f"{TENSORFLOW_STARTS}{epochs(1, 3)}Killed\n{TENSORFLOW_STARTS}{ONE_FIT}", 2),
    "each ended well": ((TENSORFLOW_STARTS + ONE_FIT) * 4, 4),
    "nothing is said about the first one's end": (TENSORFLOW_STARTS + epochs(1, 3) + TENSORFLOW_STARTS + ONE_FIT, 2),
    "from a prompt": (f"anna@box:~$ python train.py\n{DIED}anna@box:~$ python train.py\n{ONE_FIT}", 2),
    "from a prompt in an environment": (
        f"(tf) anna@box:~/work$ python3 train.py\n{DIED}(tf) anna@box:~/work$ python3 train.py\n{ONE_FIT}",
        2,
    ),
    "from PowerShell": (f"PS C:\\work> python train.py\n{DIED}PS C:\\work> python train.py\n{ONE_FIT}", 2),
    "from a Windows prompt": (f"C:\\work>python train.py\n{DIED}C:\\work>python train.py\n{ONE_FIT}", 2),
    "a hundred": ((TENSORFLOW_STARTS + DIED) * 99 + TENSORFLOW_STARTS + ONE_FIT, 100),
}


@pytest.mark.parametrize(("log", "count"), SEVERAL.values(), ids=SEVERAL)
def test_several_runs_in_one_file_and_the_last_counts(log: str, count: int) -> None:
    diagnosis = answer(log)
    assert parsed_console(diagnosis.run).runs == count
    assert diagnosis.run.first(Log).runs == count
    [fit] = diagnosis.run.fits
    assert (fit.asked, fit.reached) == (2, 2)
    assert (diagnosis.findings, diagnosis.outcome) == ((), "finished")
    assert f"The log holds {count} runs; this is the last one" in " ".join(terminal.page(diagnosis).split())


def test_the_last_run_counts_when_it_is_the_one_that_died() -> None:
    diagnosis = answer(TENSORFLOW_STARTS + ONE_FIT + TENSORFLOW_STARTS + DIED)
    assert parsed_console(diagnosis.run).runs == 2
    assert diagnosis.findings[0].rule == "unhandled-exception"
    assert diagnosis.run.fits[0].asked == 3


def test_what_ended_an_earlier_run_is_no_evidence_for_the_last() -> None:
    log = (
        f"{TENSORFLOW_STARTS}{epochs(1, 3)}slurmstepd: error: *** JOB 1 ON n1 CANCELLED AT now DUE TO TIME LIMIT ***\n"
    )
    diagnosis = answer(f"{log}Terminated\n{TENSORFLOW_STARTS}{DIED}")
    assert [finding.rule for finding in diagnosis.findings] == ["unhandled-exception"]


ONE_RUN = {
    "several fits": TENSORFLOW_STARTS + epochs(2) + epochs(2) + epochs(5),
    "several fits, nothing before": epochs(2) + epochs(2),
    "a child loads TensorFlow too": TENSORFLOW_STARTS + epochs(1, 2) + TENSORFLOW_STARTS + epochs(1, 2, first=2),
    "a child, in the middle of an epoch": f"{TENSORFLOW_STARTS}Epoch 1/2\n{bar2(40, 100)}\n{TENSORFLOW_STARTS}"
    f"{bar2(100, 100, clock='9s 90ms/step')}\n{epochs(1, 2, first=2)}",
    "TensorFlow says two things at its start": TENSORFLOW_STARTS * 2 + ONE_FIT,
}


@pytest.mark.parametrize("log", ONE_RUN.values(), ids=ONE_RUN)
def test_one_run(log: str) -> None:
    diagnosis = answer(log)
    assert parsed_console(diagnosis.run).runs == 1
    assert (diagnosis.findings, diagnosis.outcome) == ((), "finished")
    assert "runs" not in terminal.page(diagnosis)


NOISE = [
    "ls: cannot access 'old.ckpt': No such file or directory",
    "cat: /etc/motd: Permission denied",
    "Connection reset by peer, retrying (1/5)",
    "No data found for station 7, skipping",
    "all ranks ready",
]


@pytest.mark.parametrize("line", NOISE)
def test_a_line_after_which_training_came_to_its_end_is_no_cause(line: str) -> None:
    diagnosis = answer(f"{line}\n{epochs(1, 2)}{line}\n{epochs(1, 2, first=2)}")
    assert (diagnosis.findings, diagnosis.outcome) == ((), "finished")


@pytest.mark.parametrize("line", NOISE)
def test_a_line_after_which_the_bar_moved_on_is_no_cause(line: str) -> None:
    moving = "\r".join(bar2(done, 100) for done in range(0, 100, 7))
    diagnosis = answer(f"{line}\nEpoch 1/9\n{moving}\n")
    assert (diagnosis.findings, diagnosis.outcome) == ((), "unknown")


def test_a_recorded_run_reads_its_console_the_same_way() -> None:
    log = OPEN_EPOCH + TRACEBACK
    assert parsed_console(Run(id="r", console=log)).events == story(log).events


def test_events_are_in_the_order_of_their_lines_and_of_known_kinds() -> None:
    for log in LOGS.values():
        events = story(log).events
        assert [event.time for event in events] == sorted(event.time for event in events)
        assert {event.KIND for event in events} <= set(KINDS)
        assert all(event.source == "log" for event in events)


def test_the_figures_of_the_log() -> None:
    log = OPEN_EPOCH + TRACEBACK
    assert answer(log, "wheels.log").run.first(Log) == Log(source="log", file="wheels.log", lines=8, bytes=len(log))


GZIP = b"\x1f\x8b"
CONTROL = re.compile(r"[^\n\x20-\x7e\u00a0-\U0010ffff]")


def sound(data: bytes) -> Diagnosis | None:
    """The answer to any bytes: no error, no rule that fails, a page and JSON; None where it is refused."""
    try:
        fields = parse_log(io.BytesIO(data))
    except NotALog:
        return None
    diagnosis = diagnose(run_from_log(fields, "some.log"))
    assert [item for item in diagnosis.unchecked if "failed" in item.because] == []
    assert {item.rule for item in (*diagnosis.findings, *diagnosis.ruled_out, *diagnosis.unchecked)} == set(all_rules())
    assert diagnosis.outcome in ("finished", "stopped", "crashed", "unknown")
    page = terminal.page(diagnosis, 80)
    assert [line for line in page.split("\n") if len(line) > 80] == []
    assert CONTROL.findall(page) == []
    return diagnosis


def test_every_log_is_sound() -> None:
    for log in LOGS.values():
        diagnosis = sound(log.encode())
        assert diagnosis is not None
        assert json.page(diagnosis).startswith("{")


# Three kilobytes with something of everything, in parts that can stand alone.
PARTS = [
    TENSORFLOW_STARTS,
    f"Epoch 1/3\n{bar2(10, 100)}\r{bar2(100, 100, 'loss: 0.9 - val_loss: 0.8', '9s 90ms/step')}\n",
    f"Epoch 2/3\r\n{bar3(1, 4)}\r{bar3(4, 4, 'loss: nan')}\r\n",
    "[1,0]<stderr>: W0304 05:06:07.123456    4411 wheels.cc:11] a größer word of warning\n" + RAN_OUT_2.format(300),
    "slurmstepd: error: Detected 1 oom_kill event in StepId=8812.batch. Some of the step tasks have been OOM Killed.\n"
    "./job.sh: line 12: 24905 Killed                  python train.py\n",
    TENSORFLOW_STARTS + OPEN_EPOCH,
    IN_USER_CODE[IN_USER_CODE.index('  File "/tmp') :],
    CHAINED + TRACEBACK,
    "ValueError                                Traceback (most recent call last)\nCell In[4], line 2, in fit(x)\n"
    "      1 def fit(x):\n----> 2     return model.fit(x)\n\nValueError: in the cell\n",
    OUT_OF_GPU_MEMORY[OUT_OF_GPU_MEMORY.index("tensorflow.python") : OUT_OF_GPU_MEMORY.index("Hint")],
    "Epoch 4: early stopping\nBatch 3: Invalid loss, terminating training\n"
    "Process finished with exit code -1073741819 (0xC0000005)\n",
]
MIXED = "".join(PARTS).encode()


def test_a_log_cut_at_many_bytes_is_judged() -> None:
    assert 2800 < len(MIXED) < 3400
    ends = {found.start() for found in re.finditer(rb"[\r\n]", MIXED)}
    for cut in range(len(MIXED) + 1):
        if cut % 29 == 0 or cut in ends:
            assert sound(MIXED[:cut]) is not None


def test_a_log_that_begins_at_many_bytes_is_judged() -> None:
    for first in range(0, len(MIXED), 97):
        assert sound(MIXED[first:]) is not None


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS, ids=range(len(PARTS)))
def test_a_part_cut_at_every_byte_is_judged(part: str) -> None:
    log = part.encode()
    for cut in range(len(log) + 1):
        assert sound(log[:cut]) is not None


LINES = sorted({line for log in (*LOGS.values(), *PARTS) for line in log.splitlines() if len(line) < 400})


def test_shuffled_lines_are_judged() -> None:
    choose = random.Random(20250304)
    for _ in range(60):
        mixed = choose.sample(LINES, k=choose.randrange(5, 60))
        assert sound("\n".join(mixed).encode()) is not None


@given(st.lists(st.sampled_from(LINES), max_size=40), st.sampled_from(["\n", "\r\n", "\r", "", "\x08"]))
@settings(max_examples=40, deadline=None)
def test_any_order_of_known_lines_with_any_end(lines: list[str], end: str) -> None:
    sound(end.join(lines).encode())


@given(st.binary(max_size=3000))
@settings(max_examples=80, deadline=None)
def test_any_bytes(data: bytes) -> None:
    sound(data)


@pytest.mark.parametrize("rest", [b"", b"\x08", b"\x08\x00\x00\x00\x00\x00\x00\x03nonsense", b"no gzip after all"])
def test_any_bytes_that_begin_like_gzip(rest: bytes) -> None:
    sound(GZIP + rest)


@given(st.text(max_size=2000))
@settings(max_examples=40, deadline=None)
def test_any_text(text: str) -> None:
    sound(text.encode("utf-8", "surrogatepass"))


@given(st.sampled_from([name for name in LOGS if not name.startswith("long ")]), st.data())
@settings(max_examples=40, deadline=None)
def test_a_log_with_a_hole_or_a_foreign_piece(name: str, data: st.DataObject) -> None:
    log = LOGS[name].encode()
    first, last = sorted(data.draw(st.tuples(st.integers(0, len(log)), st.integers(0, len(log)))))
    sound(log[:first] + data.draw(st.binary(max_size=40)) + log[last:])


NUMBERS = ["0", "-1", "00", "1" * 30, "1e999", "0x", "0xC0000005FFFF", "٣", "1_000"]
WITH_NUMBERS = [
    "Epoch {0}/{0}",
    "{0}/{0} [====>.....] - ETA: 6s - loss: {0}",
    "{0}/{0} - {0}s - {0}ms/step - loss: {0}",
    " 5%|#    | {0}/{0} [00:01<00:09, {0}it/s]",
    "step {0}: loss = {0}",
    "Process finished with exit code {0}",
    "Killed: {0}",
    "qemu: uncaught target signal {0} (Aborted)",
    "terminated by signal {0}",
    '  File "train.py", line {0}, in main',
    "----> {0} model.fit()",
    "Epoch {0}: early stopping",
    "Epoch {0}: val_loss did not improve from {0}",
    "Batch {0}: Invalid loss, terminating training",
    "OOM when allocating tensor with shape[{0},{0}] and type float on /job:localhost/task:0/device:GPU:0",
    "ResourceExhaustedError: trying to allocate {0}GiB on GPU:0",
    "InUse:                {0}",
    "Received a label value of {0} which is outside the valid range of [0, {0})",
    "WARNING:tensorflow:Your input ran out of data; interrupting training (in this case, {0} batches)",
    "Incompatible shapes: [{0},{0}] vs. [{0}]",
    "Found {0} images belonging to {0} classes.",
    "Dimensions must be equal, but are {0} and {0} for 'x' with input shapes: [{0}], [{0}].",
]


def with_number(line: str, number: str) -> None:
    words = line.replace("{0}", number)
    assert sound(f"Epoch 1/2\n{words}\n{bar2(3, 4)}\n{words}\n".encode()) is not None
    assert sound(f"{TRACEBACK.rstrip()}\n{words}\nValueError: {words}\n".encode()) is not None


@pytest.mark.parametrize("line", WITH_NUMBERS)
def test_numbers_like_no_other(line: str) -> None:
    for number in NUMBERS:
        with_number(line, number)


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("4/4 - 1s - {0}ms/step - loss: 0.1", "9" * 400),
        ("OOM when allocating tensor with shape[{0},2] and type float on /job:localhost/device:GPU:0", "9" * 400),
        ("WARNING:tensorflow:Your input ran out of data; interrupting training (in this case, {0} batches)", "9" * 400),
        ("Incompatible shapes: [{0},2] vs. [3]", "²"),
    ],
)
def test_numbers_that_no_float_can_hold(line: str, number: str) -> None:
    with_number(line, number)


@pytest.mark.parametrize(
    "line", ["Epoch {0}/3", "4/{0} [====>.....] - ETA: 6s", "step {0}: loss = 1", "exited with code {0}"]
)
def test_a_number_of_five_thousand_digits(line: str) -> None:
    story(f"{line.replace('{0}', '1' * 5000)}\n")


HOW = {"short": False, "verbose": True}


@functools.cache
def judged(name: str) -> Diagnosis:
    return answer(LOGS[name])


@pytest.mark.parametrize("name", LOGS)
def test_the_page_fits_on_a_screen(name: str) -> None:
    page = terminal.page(judged(name), 80)
    lines = page.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert len(lines) <= 45
    assert lines[0].startswith("laststep · train.log ")
    assert lines[1].endswith("not recorded by laststep") or "runs" in page
    assert "\nWhat happened\n" in page
    assert len([line for line in lines if line.split("  ")[0] in ("Why", "What ended it")]) == 1


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
@pytest.mark.parametrize("verbose", HOW.values(), ids=HOW)
def test_no_page_is_wider_than_the_terminal(width: int, verbose: bool) -> None:
    for name in LOGS:
        page = terminal.page(judged(name), width, verbose=verbose)
        assert [line for line in page.splitlines() if len(line) > min(width, 100)] == [], name


def test_a_page_with_all_that_can_be_on_one() -> None:
    """Harmless messages, a long message, a chain, several runs: still one screen."""
    noise = "".join(f"{message}\n" for message in MESSAGES.values())
    log = (TENSORFLOW_STARTS + DIED) * 2 + noise + RAN_OUT_3 + OPEN_EPOCH + LOGS["long lines"] + IN_USER_CODE
    page = terminal.page(answer(log, "a-long-name-" * 12 + ".log"), 80)
    assert [line for line in page.splitlines() if len(line) > 80] == []
    assert len(page.splitlines()) <= 45


ESCAPES = ["\x1b[2J", "\x1b]0;owned\x07", "\x9b31m", "\x1b[31m", "\x07", "\x1bP+q\x1b\\", "\x08\x08", "\x7f", "\x1b"]


@pytest.mark.parametrize("verbose", HOW.values(), ids=HOW)
@pytest.mark.parametrize("escape", ESCAPES, ids=[repr(escape) for escape in ESCAPES])
def test_nothing_in_a_log_can_drive_the_terminal(escape: str, verbose: bool) -> None:
    log = (OPEN_EPOCH + TRACEBACK).replace("speed", f"spe{escape}ed").replace("train.py", f"tr{escape}ain.py")
    log += f"{escape}slurmstepd: error: *** JOB 1{escape} ON n1 CANCELLED AT now DUE TO TIME LIMIT ***\n"
    page = terminal.page(answer(log, f"some{escape}.log"), 80, verbose=verbose)
    assert CONTROL.findall(page) == []


def test_a_colour_of_ours_is_there_only_when_asked_for() -> None:
    assert "\x1b[1m" in terminal.page(answer(LOGS["traceback"]), 80, colour=True)
    assert "\x1b" not in terminal.page(answer(LOGS["traceback"]), 80, colour=False)


def test_a_log_that_does_not_say_tells_what_would() -> None:
    page = terminal.page(answer(LOGS["open"]))
    assert "laststep run python train.py" in page
    assert "it may be truncated" in " ".join(page.split())


def test_a_healthy_log_has_nothing_to_report() -> None:
    page = terminal.page(answer(LOGS["healthy"]))
    assert "Nothing to report." in page
    assert "What to change" not in page
