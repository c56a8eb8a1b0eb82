"""The log of a notebook's server: that the kernel died, whichever end of the log is the newest."""

from __future__ import annotations

import pytest

from laststep.analysis.finding import Confidence
from laststep.reports import terminal
from tests.logs.printed import ONE_FIT, TENSORFLOW_STARTS, answer, story

# As Colab exports it: a tab after the time and after the level, the newest line first.
COLAB = """\
Timestamp	Level	Message
Mar 3, 2026, 12:01:09 PM	WARNING	WARNING:root:kernel 8e53a1b2-3c44-4d55-9e66-7f7788990011 restarted
Mar 3, 2026, 12:01:09 PM	INFO	KernelRestarter: restarting kernel (1/5), keep random ports
Mar 3, 2026, 11:58:40 AM	WARNING	2026-03-03 11:58:40.123456: I tensorflow/core/util/port.cc:153] oneDNN custom \
operations are on. You may see slightly different numerical results.
Mar 3, 2026, 11:50:02 AM	INFO	Kernel started: 8e53a1b2-3c44-4d55-9e66-7f7788990011
Mar 3, 2026, 11:49:55 AM	INFO	Jupyter Notebook 6.5.5 is running at:
"""
SERVER = (
    "[I 2026-03-03 11:50:02.123 ServerApp] Kernel started: 8e53a1b2-3c44-4d55-9e66-7f7788990011\n"
    "[I 2026-03-03 11:58:40.123 ServerApp] Saving file at /train.ipynb\n"
    "[W 2026-03-03 12:01:09.456 ServerApp] AsyncIOLoopKernelRestarter: restarting kernel (1/5), keep random ports\n"
    "[W 2026-03-03 12:01:09.460 ServerApp] kernel 8e53a1b2-3c44-4d55-9e66-7f7788990011 restarted\n"
)
LOGS = {
    "Colab": COLAB,
    "Colab in a newer browser": COLAB.replace(" PM", "\u202fPM").replace(" AM", "\u202fAM"),
    "a server": SERVER,
    "an old server": "[I 11:58:40.123 NotebookApp] KernelRestarter: restarting kernel (1/5), keep random ports\n",
    "VS Code": "The Kernel crashed while executing code in the current cell or a previous cell.\n",
}


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS)
def test_that_the_kernel_died_is_said_and_not_more(log: str) -> None:
    diagnosis = answer(log)
    assert [finding.rule for finding in diagnosis.findings] == ["killed-by-signal"]
    finding = diagnosis.findings[0]
    assert finding.cause.startswith("The notebook's kernel died")
    assert finding.confidence is Confidence.LIKELY
    assert "laststep.start()" in str(finding.remedies)


@pytest.mark.parametrize("log", [LOGS["Colab"], LOGS["Colab in a newer browser"]])
def test_the_newest_line_first_is_read_from_its_end(log: str) -> None:
    lines = [line.text for line in story(log).lines]
    assert lines[0].startswith("Jupyter Notebook")
    assert lines[-2].endswith("restarted")
    assert "newest line comes first" in " ".join(terminal.page(answer(log)).split())


def test_lines_that_belong_together_stay_in_their_order() -> None:
    log = "".join(f"2026-03-03 12:00:0{second} a{second}\nb{second}\n" for second in reversed(range(6)))
    assert [line.text.split()[-1] for line in story(log).lines] == [f"{x}{second}" for second in range(6) for x in "ab"]


def test_two_threads_that_write_in_the_wrong_order_turn_nothing_round() -> None:
    log = "2026-03-03 12:00:02 a\n2026-03-03 12:00:01 b\n"
    assert [line.text[-1] for line in story(log).lines] == ["a", "b"]


def test_what_the_kernel_said_last_is_the_cause_where_it_said_something() -> None:
    last = "Mar 3, 2026, 12:01:08 PM\tWARNING\tterminate called after throwing an instance of 'std::bad_alloc'\n"
    head, _, rest = COLAB.partition("Mar 3, 2026, 11:58:40")
    finding = answer(f"{head}{last}Mar 3, 2026, 11:58:40{rest}").findings[0]
    assert finding.rule == "host-allocation-failed"


NOTHING = {
    "restarted by its user": SERVER.replace(
        "AsyncIOLoopKernelRestarter: restarting kernel (1/5), keep random ports", "x"
    ).replace("kernel 8e53a1b2-3c44-4d55-9e66-7f7788990011 restarted", "Kernel restarted: 8e53a1b2"),
    "a training after it": SERVER + TENSORFLOW_STARTS + ONE_FIT,
}


@pytest.mark.parametrize("log", NOTHING.values(), ids=NOTHING)
def test_no_kernel_died(log: str) -> None:
    assert answer(log).findings == ()
