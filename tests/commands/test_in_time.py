"""The shell gets its prompt back soon after the program's end, however much was recorded, and at once on a signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from laststep.record.run import Run
from laststep.rules.diagnose import NO_TIME, diagnose, read_diagnosis
from tests.written import written

pytestmark = pytest.mark.slow  # many processes

# An answer without end, in the main thread with the signals blocked, as a supervisor has them; then its own end.
ENDLESS = """\
import os, signal, sys, time
from pathlib import Path
from laststep.commands import run
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
os.kill(os.getpid(), signal.SIGTERM)  # came while the program lived: not for the answer
def answer(folder):
    print("begun", flush=True)
    while True:
        try:
            time.sleep(0.01)
        except Exception:
            pass
if sys.argv[1] == "budget":
    run.diagnosis_page = answer
    run.ANSWER_SECONDS = 0.5
run.print_answer(answer, Path("the-run"))
sys.exit(7)
"""
MANY_FITS = """\
import json, os, sys
from pathlib import Path
(folder,) = Path(".laststep").glob("2*")
lines = [json.dumps({"laststep": 1, "source": "recorder.9"}), json.dumps({"t": 1.0, "kind": "recorder", "data": {}})]
for number in range(20_000):
    lines.append(json.dumps({"t": 2.0 + number, "kind": "fit", "data": {"id": number, "epochs": 2, "steps": 1}}))
    lines.append(json.dumps({"t": 2.5 + number, "kind": "epoch", "data": {"fit": number, "epoch": 0, "batches": 1}}))
(folder / "recorder.9.jsonl").write_text("\\n".join(lines) + "\\n")
print("over", flush=True)
sys.exit(4)
"""


def fits(count: int) -> Run:
    began = [written(float(n), "fit", {"id": n, "epochs": 1}, "r") for n in range(count)]
    epochs = [written(n + 0.5, "epoch", {"fit": n, "epoch": 0, "metrics": {"loss": 1.0}}, "r") for n in range(count)]
    raised = [written(n + 0.6, "exception", {"left": "fit", "type": "E", "message": str(n)}, "r") for n in range(count)]
    events = sorted([*began, *epochs, *raised], key=lambda event: event.time)
    return Run(id="x", events=(written(0.0, "run", {}), written(0.0, "recorder", {}), *events))


def test_twenty_thousand_fits_take_seconds():
    diagnose(fits(10))
    began = time.process_time()
    diagnose(fits(20_000))
    assert time.process_time() - began < 5, "it was hours: with the square of the fits"


def test_an_epoch_belongs_to_the_last_fit_of_its_number():
    events = [written(t, kind, data, source) for t, kind, data, source in [
        (1.0, "fit", {"id": 1, "epochs": 1}, "a"), (1.5, "fit", {"id": 1, "epochs": 1}, "b"),
        (2.0, "epoch", {"fit": 1, "epoch": 0}, "a"), (3.0, "fit-end", {"id": 1}, "a"),
        (4.0, "fit", {"id": 1, "epochs": 2}, "a"), (5.0, "epoch", {"fit": 1, "epoch": 0}, "a"),
    ]]  # fmt: skip
    found = Run(id="x", events=tuple(events)).fits
    assert [(len(fit.epochs), fit.ended is not None) for fit in found] == [
        (1, True),
        (0, False),
        (1, False),
    ]


def test_without_time_the_rules_are_named_that_were_not_asked(tmp_path):
    (tmp_path / "supervisor.jsonl").write_text('{"t": 1.0, "kind": "run", "data": {"command": ["x"]}}\n')
    answer = read_diagnosis(tmp_path, seconds=-1)
    assert answer.timed_out
    assert {item.because for item in answer.unchecked} == {NO_TIME}
    assert not read_diagnosis(tmp_path).timed_out


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_a_signal_ends_the_answer_at_once_and_the_status_is_kept(name):
    command = [sys.executable, "-c", ENDLESS, "signal"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        began = time.monotonic()
        os.kill(process.pid, getattr(signal, name))
        _, errors = process.communicate(timeout=10)
    assert time.monotonic() - began < 1
    assert (process.returncode, errors) == (7, "")


def test_an_answer_that_takes_too_long_says_where_there_is_more():
    result = subprocess.run([sys.executable, "-c", ENDLESS, "budget"], capture_output=True, text=True, timeout=20)
    assert result.returncode == 7
    assert "use laststep why the-run" in result.stderr


def test_a_terminal_that_takes_nothing_keeps_nobody_waiting():
    """Ctrl-S, or a pager that is not read on: neither the answer nor the line about it can be written."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while os.write(writing, b"x" * 65536):
            pass
    except BlockingIOError:
        os.set_blocking(writing, True)
    result = subprocess.run([sys.executable, "-c", ENDLESS, "budget"], stderr=writing, capture_output=False, timeout=20)
    assert result.returncode == 7
    os.close(reading)
    os.close(writing)


def test_a_run_of_many_fits_gives_the_shell_back(here: Path, environ: dict[str, str]):
    (here / "many.py").write_text(MANY_FITS)
    command = [sys.executable, "-m", "laststep", "run", "python", "many.py"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=here, env=environ, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout.readline() == "over\n"
        began = time.monotonic()
        _, errors = process.communicate(timeout=100)
    assert time.monotonic() - began < 8, "five seconds, and what the machine adds"
    assert process.returncode == 4
    assert "laststep · " in errors


def test_a_clock_set_back_makes_no_time_negative(here: Path, environ: dict[str, str]):
    """The supervisor's own clock goes back a day while the program runs; the machine's is left alone."""
    code = "import sys, time; from laststep import cli; real, began = time.time, time.monotonic()\n"
    code += "time.time = lambda: real() - 86400 * (time.monotonic() - began > 1.5)\nsys.exit(cli.main(sys.argv[1:]))"
    program = "import time; time.sleep(2.5); raise SystemExit(3)"
    command = [sys.executable, "-c", code, "run", "python", "-c", program]
    result = subprocess.run(command, cwd=here, env=environ, capture_output=True, text=True, timeout=60)
    assert result.returncode == 3
    assert ", after -" not in result.stderr
    seconds = float(result.stderr.partition(", after ")[2].split()[0])
    assert 2.5 <= seconds < 60
