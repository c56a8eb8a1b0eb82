"""Run.load: the same while a run lives and after it is dead; a stranger's folder is loaded or refused, no more."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from laststep.record.claim import CLAIM, start_time
from laststep.record.events.process import Exiting, Raised, RecorderStart
from laststep.record.events.supervisor import Launch, ProcessEnd, RecordingStopped
from laststep.record.folder import CONSOLE, SAMPLES, SUPERVISOR_JOURNAL
from laststep.record.journal import JournalWriter
from laststep.record.run import DamagedRun, Run
from laststep.record.sample import Sample
from laststep.record.steps import HEADER_BYTES, MAGIC, SLOT, StepWriter
from laststep.recorder import state
from laststep.recorder.state import Recorder
from tests.written import written

from .conftest import Mount, fill

SHARED_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
NAMES = (SUPERVISOR_JOURNAL, "recorder.7.jsonl", "steps.7", SAMPLES, CONSOLE, CONSOLE + ".old")
# In a process of its own: with less memory than the machine has, and with an end to its patience.
LOAD = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from pathlib import Path
from laststep.record.run import DamagedRun, Run
try:
    run = Run.load(Path(sys.argv[1]))
    sys.stdout.write("loaded " + str("SECRET" in repr((run.events, run.samples, run.console))))
except DamagedRun:
    sys.stdout.write("damaged")
"""


def make_run(folder: Path) -> Path:
    """A small run with something in every file."""
    folder.mkdir(exist_ok=True)
    supervisor = JournalWriter(folder / SUPERVISOR_JOURNAL, "supervisor")
    supervisor.write("run", {"command": ["python", "train.py"], "host": "elsewhere"}, at=1.0)
    recorder = JournalWriter(folder / "recorder.7.jsonl", "recorder")
    recorder.write("recorder", {"pid": 7}, at=2.0)
    recorder.write("exiting", {"steps": 3}, at=3.0)
    supervisor.write("end", {"code": 0, "signal": None, "seconds": 4.5}, at=4.0)
    for journal in (supervisor, recorder):
        journal.close()
    steps = StepWriter(str(folder / "steps.7"))
    for number in (1, 2, 3):
        steps.write(number, 2.0 + number, 0.5, 1 / number)
    (folder / SAMPLES).write_text('{"t":2.5,"rss":10}\n')
    (folder / CONSOLE).write_bytes(b"Epoch 1/1\n\xff\n")
    return folder


def load_elsewhere(folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(folder)], capture_output=True, text=True, timeout=12, check=False
    )
    assert done.returncode == 0, done.stderr[-1500:]
    return done.stdout


def test_a_run_comes_back_whole(tmp_path: Path) -> None:
    run = Run.load(make_run(tmp_path / "20260101-000000-aaaa"))
    assert run.id == "20260101-000000-aaaa"
    assert [type(event) for event in run.events] == [Launch, RecorderStart, Exiting, ProcessEnd]
    assert [step.number for step in run.steps] == [1, 2, 3]
    assert run.samples == [Sample(time=2.5, rss=10)]
    assert run.console == "Epoch 1/1\n�\n"
    assert (run.command, run.exit_code, run.signal, run.seconds) == (["python", "train.py"], 0, None, 4.5)
    assert (run.alive, run.vanished) == (False, False)


def test_events_of_all_writers_are_in_the_order_of_time(tmp_path: Path) -> None:
    run = Run.load(make_run(tmp_path / "run"))
    assert [event.time for event in run.events] == sorted(event.time for event in run.events)
    assert {event.source for event in run.events} == {"supervisor", "recorder"}


@pytest.mark.parametrize("missing", [name for name in NAMES if name != CONSOLE + ".old"])
def test_any_one_file_may_be_missing(tmp_path: Path, missing: str) -> None:
    folder = make_run(tmp_path / "run")
    (folder / missing).unlink()
    assert Run.load(folder).events


def fits(*ends: bool | None) -> Run:
    """A run with these fits of two epochs: complete, cut short after one, or (None) without an end."""
    events = []
    for number, complete in enumerate(ends, 1):
        at = 10.0 * number
        events.append(written(at, "fit", {"id": number, "epochs": 2}, "recorder"))
        events += [
            written(at + n, "epoch", {"fit": number, "epoch": n}, "recorder") for n in range(2 if complete else 1)
        ]
        events += [written(at + 5, "fit-end", {"id": number}, "recorder")] if complete is not None else []
    return Run(id="r", events=tuple(events))


@pytest.mark.parametrize(
    ("ends", "number"),
    [
        ((True,), 1),
        ((True, True), 2),
        ((False, True), 1),
        ((False, False, True), 2),
        ((True, None), 2),
        ((False, None), 2),
    ],
)
def test_the_fit_that_matters_is_the_last_that_is_not_complete(ends: tuple[bool | None, ...], number: int) -> None:
    fit = fits(*ends).fit
    assert fit is not None
    assert fit.id == number


def test_a_run_without_a_fit_has_none_that_matters() -> None:
    assert fits().fit is None


def test_a_folder_without_a_record_is_damaged(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "not-there"):
        with pytest.raises(DamagedRun, match="no readable record"):
            Run.load(folder)


def test_a_living_process_without_its_supervisor_is_alive(tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path / "recorder.1.jsonl", "recorder")
    journal.write("recorder", {"pid": os.getpid()})
    assert not Run.load(tmp_path).alive
    (tmp_path / CLAIM).write_text(f"{os.getpid()} {start_time(os.getpid())}")
    assert Run.load(tmp_path).alive
    journal.write("exiting", {})
    assert not Run.load(tmp_path).alive
    journal.close()


def test_a_process_number_used_again_is_not_the_run(tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path / "recorder.1.jsonl", "recorder")
    journal.write("recorder", {"pid": os.getpid()})
    journal.close()
    (tmp_path / CLAIM).write_text(f"{os.getpid()} 1")
    assert not Run.load(tmp_path).alive


@SHARED_FOLDER
@given(name=st.sampled_from(NAMES), content=st.binary(max_size=600))
def test_rubbish_in_any_one_file_costs_at_most_that_file(tmp_path: Path, name: str, content: bytes) -> None:
    folder = make_run(tmp_path / "run")
    (folder / name).write_bytes(content)
    assert Run.load(folder).events


@SHARED_FOLDER
@given(name=st.sampled_from(NAMES), share=st.floats(0, 1), content=st.binary(min_size=1, max_size=40))
def test_damage_in_the_middle_of_any_file_never_raises(tmp_path: Path, name: str, share: float, content: bytes) -> None:
    folder = make_run(tmp_path / "run")
    (folder / (CONSOLE + ".old")).write_bytes(b"before")
    whole = (folder / name).read_bytes()[: 3 * HEADER_BYTES]
    at = int(share * len(whole))
    (folder / name).write_bytes(whole[:at] + content + whole[at + len(content) :])
    assert Run.load(folder).events


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("pid", "host", "id", "epochs", "initial_epoch", "fit", "epoch", "code", "signal", "seconds")


@SHARED_FOLDER
@given(
    kind=st.sampled_from(("run", "recorder", "fit", "fit-end", "epoch", "end", "exiting", "exception", "limits")),
    data=st.dictionaries(st.sampled_from(FIELDS), JSON),
    time=st.integers() | st.floats(),
)
def test_well_formed_lines_with_absurd_values_never_raise(tmp_path: Path, kind: str, data: Any, time: float) -> None:
    folder = make_run(tmp_path / "run")
    (folder / "recorder.7.jsonl").write_text(json.dumps({"t": time, "n": 1, "kind": kind, "data": data}) + "\n")
    (folder / SUPERVISOR_JOURNAL).write_text('{"t":1.0,"n":1,"kind":"versions","data":{}}\n')
    assert Run.load(folder).events


@pytest.mark.parametrize("pid", ["abc", [], {}, -1, 1e400, 10**300, "9" * 5000])
def test_an_absurd_process_number_never_raises(tmp_path: Path, pid: Any) -> None:
    line = {"t": 1.0, "n": 1, "kind": "recorder", "data": {"pid": pid}}
    (tmp_path / "recorder.1.jsonl").write_text(json.dumps(line) + "\n")
    (tmp_path / CLAIM).write_text(f"{pid} 5")
    assert not Run.load(tmp_path).alive


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("content", ['{"a":' * 200_000, "[" * 1_000_000, '{"t":1,"data":{"a":"' + "x" * 30_000_000])
def test_deep_or_huge_lines_never_raise(tmp_path: Path, name: str, content: str) -> None:
    folder = make_run(tmp_path / "run")
    (folder / name).write_text(content + "\n")
    assert load_elsewhere(folder) == "loaded False"


@pytest.mark.parametrize("name", NAMES)
def test_a_pipe_in_place_of_a_file_never_hangs(tmp_path: Path, name: str) -> None:
    folder = make_run(tmp_path / "run")
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    assert load_elsewhere(folder) == "loaded False"


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_in_place_of_a_file_never_raises(tmp_path: Path, name: str) -> None:
    folder = make_run(tmp_path / "run")
    (folder / name).unlink(missing_ok=True)
    (folder / name).mkdir()
    assert load_elsewhere(folder) == "loaded False"


@pytest.mark.parametrize("name", NAMES)
def test_a_file_as_large_as_can_be_never_raises(tmp_path: Path, name: str) -> None:
    """Sparse, so it comes in an archive of a few bytes."""
    folder = make_run(tmp_path / "run")
    with open(folder / name, "ab") as file:
        file.truncate(1 << 40)
    assert load_elsewhere(folder).startswith("loaded")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("target", ["/dev/zero", "/dev/tty", "/proc/self/mem", "nowhere"])
def test_a_link_to_a_device_or_to_nothing_never_hangs(tmp_path: Path, name: str, target: str) -> None:
    folder = make_run(tmp_path / "run")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(target)
    assert load_elsewhere(folder) == "loaded False"


@pytest.mark.parametrize("name", [name for name in NAMES if name != "steps.7"])
def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path, name: str) -> None:
    """Otherwise a stranger's folder puts a file of ours into the report that we send back."""
    folder = make_run(tmp_path / "run")
    secret = tmp_path / "ours"
    event = '"kind":"exception","data":{"message":"SECRET"}'
    secret.write_text(f'{{"t":1,"n":1,{event},"inside":{{"phase":"SECRET"}}}}\n')  # a sample is one too
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(secret)
    assert load_elsewhere(folder) == "loaded False"


def _slots(count: int, number: Callable[[int], int]) -> bytes:
    return b"".join(
        SLOT.pack(number(n), float("nan"), -1.0, 3e38, float("inf"), 0.0, -(2**31), 2**31 - 1, 65535, 7, number(n))
        for n in range(count)
    )


@pytest.mark.parametrize(
    "content",
    [
        MAGIC,
        MAGIC.ljust(HEADER_BYTES, b"\xff"),
        MAGIC + b"\x40\0\0\0\xff\xff\xff\xff" + b"\xff" * (HEADER_BYTES - 16) + b"\xff" * 640,
        MAGIC + b"\0" * (HEADER_BYTES - 8) + b"\xff" * 640,
        (MAGIC + b"\x40\0\0\0\x05\0\0\0").ljust(HEADER_BYTES, b"\0") + _slots(50, lambda n: 2**64 - 1 - n),
        (MAGIC + b"\x40\0\0\0\x05\0\0\0").ljust(HEADER_BYTES, b"\0") + _slots(50, lambda n: 5),
    ],
    ids=["magic-alone", "header-ff", "levels-ff", "slot-size-0", "huge-numbers", "same-number"],
)
def test_a_steps_file_with_absurd_content_never_raises(tmp_path: Path, content: bytes) -> None:
    folder = make_run(tmp_path / "run")
    (folder / "steps.7").write_bytes(content)
    assert len(Run.load(folder).steps) <= 50


@pytest.fixture
def recorder(mount: Mount) -> Recorder:
    """A recorder on a disk with room for its journal's reserve and its steps, and little more."""
    return Recorder(str(mount("tmpfs", "size=8m")))


def test_on_a_full_disk_training_goes_on_and_the_gap_is_visible(recorder: Recorder) -> None:
    recorder.event("recorder", pid=1)
    recorder.hand_step(0.5)
    fill(Path(recorder.folder))
    for number in range(3000):
        recorder.event("exception", batch=number, message="x" * 200)
        recorder.hand_step(0.5)
    run = Run.load(Path(recorder.folder))
    written = len(run.all(Raised))
    assert 100 < written < 3000
    assert len(run.steps) == 3001
    stopped = run.last(RecordingStopped)
    assert stopped is not None
    assert (stopped.lost, stopped.because) == (3000 - written, "ENOSPC")


def test_without_room_for_steps_training_goes_on_and_the_reason_is_an_event(recorder: Recorder) -> None:
    recorder.event("recorder", pid=1)
    fill(Path(recorder.folder))
    for _ in range(10):
        recorder.hand_step(0.5)
        recorder.mark(1, 5.0)
    (stopped,) = Run.load(Path(recorder.folder)).all(RecordingStopped)
    assert stopped.what == "steps"
    assert "No space" in stopped.because


def test_events_lost_before_the_first_step_are_visible_too(recorder: Recorder) -> None:
    recorder.event("recorder", pid=1)
    fill(Path(recorder.folder))
    for number in range(2000):
        recorder.event("exception", batch=number, message="x" * 200)
    run = Run.load(Path(recorder.folder))
    stopped = run.last(RecordingStopped)
    assert stopped is not None
    assert stopped.lost + len(run.all(Raised)) == 2000


def test_laststep_step_never_raises_into_the_users_loop(mount: Mount, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where mapping is not safe a full disk shows itself as an OSError from pwrite."""
    import laststep

    recorder = Recorder(str(mount("ramfs")))
    recorder.hand_step(0.5)
    assert recorder.steps is not None
    assert not recorder.steps.mapped
    monkeypatch.setattr(state, "current", recorder)

    def full(fd: int, content: bytes, offset: int) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    laststep.step(loss=0.5)


@pytest.mark.parametrize("loss", ["high", [1.0, 2.0], 10**400, object()], ids=["text", "list", "too-large", "object"])
def test_laststep_step_takes_any_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loss: Any) -> None:
    import laststep

    recorder = Recorder(str(tmp_path))
    monkeypatch.setattr(state, "current", recorder)
    laststep.step(loss=loss)
    assert recorder.count == 1
