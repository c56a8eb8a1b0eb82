"""`laststep attach PID`: real processes without a recording: what is reported, and that they continue unharmed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import laststep
from laststep.cli import main
from laststep.reports import json as json_report
from laststep.reports import terminal
from laststep.rules.diagnose import diagnose
from laststep.supervisor.attach import ProcessWatch

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("attach")]  # all programs are watched at once, and once only

SRC = str(Path(laststep.__file__).parents[1])
Start = Callable[..., subprocess.Popen[str]]

QUEUE = """
import queue, sys
def load(q, password):
    return q.get()                                    # <- here
def train():
    for epoch in range(3):
        for step in range(10):
            if epoch == 1 and step == 4:
                print("READY", flush=True)
                load(queue.Queue(), "s3" + "cr3t" * 2)
train()
"""
LOOP = """
import sys, time
def train(seconds):
    began, step, token = time.time(), 0, 73194625
    print("READY", flush=True)
    while time.time() < began + seconds:
        step += 1
        time.sleep(0.01)
    print("done", flush=True)
train(float(sys.argv[1]))
sys.exit(7)
"""
REGEX = """
import re, threading, time
threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
print("READY", flush=True)
re.match(r"(a+)+$", "a" * 60 + "b")                   # <- here
"""
POLL = """
import os, time
print("READY", flush=True)
while not os.path.exists("/nonexistent/file"):
    time.sleep(0.1)
"""
LOCKS = """
import threading, time
one, two = threading.Lock(), threading.Lock()
def other():
    with two:
        time.sleep(0.3)
        one.acquire()
threading.Thread(target=other, daemon=True).start()
with one:
    time.sleep(0.3)
    print("READY", flush=True)
    two.acquire()                                     # <- here
"""
FORKED = """
import multiprocessing, threading
lock = threading.Lock()
def work(number):
    lock.acquire()
lock.acquire()
with multiprocessing.get_context("fork").Pool(1) as pool:
    lock.release()
    print("READY", flush=True)
    pool.map(work, range(4))                          # <- here
"""
CHILD = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; print('READY', flush=True); time.sleep(1000)"])
child.wait()
"""


def begin(folder: Path, source: str, *words: str, before: tuple[str, ...] = (), env: Any = None) -> Any:
    """A real program, once it has written READY."""
    (folder / "train.py").write_text(source.lstrip())
    process = subprocess.Popen(
        [*before, sys.executable, "train.py", *words],
        cwd=folder, env={**os.environ, **(env or {})}, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "READY\n"
    time.sleep(0.3)  # it is where it will stay
    return process


def end(process: Any) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    process.stdout.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[subprocess.Popen[str]] = []

    def call(source: str, *words: str, **more: Any) -> Any:
        folder = tmp_path / str(len(started)) if started else tmp_path
        folder.mkdir(exist_ok=True)
        started.append(begin(folder, source, *words, **more))
        return started[-1]

    yield call
    for process in started:
        end(process)


class Gpu:
    """Stands in for NVML: one GPU, whose memory this process holds."""

    because = None

    def __init__(self, pid: int, busy: int) -> None:
        self._pid, self._busy = pid, busy

    def read(self) -> list[dict[str, Any]]:
        held = [{"pid": self._pid, "used": 3 << 30}]
        return [{"gpu": 0, "used": 4 << 30, "total": 80 << 30, "busy": self._busy, "held_by": held}]


class Watched:
    """A program, and the run that attaching to it gave."""

    def __init__(self, folder: Path, source: str, *words: str, seconds: float = 4.0, gpu: int | None = None) -> None:
        self.process = begin(folder, source, *words)
        self._seconds, self._gpu = seconds, gpu

    def attach(self) -> Watched:
        before = self._switches()
        watch = ProcessWatch(self.process.pid, self._seconds)
        if self._gpu is not None:
            watch._gpus = Gpu(self.process.pid, self._gpu)  # type: ignore[assignment]
        self.diagnosis = diagnose(watch.watch())
        self.was_paused = self._switches() != before
        return self

    def _switches(self) -> list[str]:
        """Each pause would put the main thread on a core once more."""
        status = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return [line for line in status if "ctxt_switches" in line]

    def page(self, verbose: bool = False) -> str:
        return " ".join(terminal.page(self.diagnosis, 80, False, verbose).split())

    @property
    def answer(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(json_report.page(self.diagnosis))
        return answer


SECRET = ("60", "--api-key", "k3y")
PROGRAMS: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "queue": (QUEUE, SECRET, {}),
    "queue, for longer": (QUEUE, (), {"seconds": 10}),
    "queue, GPU busy": (QUEUE, (), {"gpu": 90}),
    "queue, GPU idle": (QUEUE, (), {"gpu": 0}),
    "locks": (LOCKS, (), {}),
    "forked": (FORKED, (), {}),
    "loop": (LOOP, SECRET, {}),
    "short loop": (LOOP, ("8",), {}),
    "regex": (REGEX, (), {}),
    "poll": (POLL, (), {}),
    "child": (CHILD, (), {}),
}


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Watched]]:
    """Each program, after all of them were watched at the same time."""
    made = {
        name: Watched(tmp_path_factory.mktemp("program"), source, *words, **more)
        for name, (source, words, more) in PROGRAMS.items()
    }
    with ThreadPoolExecutor(len(made)) as pool:
        attached = {name: pool.submit(program.attach) for name, program in made.items()}
    yield lambda name: attached[name].result()
    for program in made.values():
        end(program.process)


@pytest.fixture
def page(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    monkeypatch.setenv("COLUMNS", "80")

    def call(process: subprocess.Popen[str], *words: str, seconds: float = 3) -> str:
        status = main(["attach", str(process.pid), "--seconds", str(seconds), *words])
        shown = capsys.readouterr()
        assert (status, shown.err) == (0, "")
        return shown.out

    return call


@pytest.fixture
def fields(page: Callable[..., str]) -> Callable[..., dict[str, Any]]:
    return lambda process, **more: json.loads(page(process, "--json", **more))


@pytest.fixture
def refusal(capsys: pytest.CaptureFixture[str]) -> Callable[[int], str]:
    def call(pid: int) -> str:
        status = main(["attach", str(pid), "--seconds", "3"])
        shown = capsys.readouterr()
        assert (status, shown.out) == (2, "")
        assert len(shown.err.splitlines()) == 1
        return shown.err

    return call


def here(source: str) -> int:
    return next(at for at, line in enumerate(source.lstrip().splitlines(), 1) if "# <- here" in line)


def test_stuck_is_said_with_its_line(start, page):
    process = start(QUEUE)
    shown = page(process)
    assert shown.splitlines()[0].endswith("stalled")
    assert f"train.py:{here(QUEUE)}" in shown
    assert "python-blocked" in shown
    assert "POSSIBLE" in shown  # three seconds are not long
    assert "while laststep watched" in " ".join(shown.split())
    assert "its own counters: epoch 1, step 4" in " ".join(shown.split())
    assert [line for line in shown.splitlines() if len(line) > 80] == []
    assert process.poll() is None


def test_stuck_for_long_enough_is_likely(watched):
    found = watched("queue, for longer").answer["findings"][0]
    assert (found["rule"], found["confidence"]) == ("python-blocked", "LIKELY")
    assert found["where"]["line"] == here(QUEUE)


@pytest.mark.parametrize(("name", "source"), [("locks", LOCKS), ("forked", FORKED)])
def test_who_waits_for_whom(watched, name, source):
    found = watched(name).answer["findings"][0]
    assert (found["rule"], found["confidence"]) == ("deadlocked", "POSSIBLE")
    assert found["where"]["line"] == here(source)


def test_what_makes_progress_is_not_called_stuck(watched):
    answer = watched("loop").answer
    assert (answer["attach"]["state"], answer["findings"]) == ("moving", [])
    assert answer["run"]["outcome"] == "running"


def test_c_code_that_holds_the_interpreter(watched):
    program = watched("regex")
    attached = program.answer["attach"]
    assert (attached["state"], attached["holds_interpreter"]) == ("busy", True)
    assert attached["where"]["line"] == here(REGEX)
    assert "One thread held the GIL in every snapshot" in program.page()
    assert program.process.poll() is None


def test_what_wakes_up_again_and_again_is_not_called_stuck(watched):
    answer = watched("poll").answer
    assert (answer["attach"]["state"], answer["findings"]) == ("waking", [])


@pytest.mark.parametrize(("name", "state"), [("queue, GPU busy", "busy"), ("queue, GPU idle", "stuck")])
def test_work_on_its_gpu_is_progress(watched, name, state):
    assert watched(name).answer["attach"]["state"] == state


def test_nothing_is_ruled_out_that_nobody_could_see(watched):
    answer = watched("loop").answer
    assert {item["rule"] for item in answer["unchecked"]} >= {"early-stopping", "unhandled-exception", "no-gradients"}
    assert "deadlocked" in {item["rule"] for item in answer["ruled_out"]}
    assert all("needs a record from inside the process" in item["because"] for item in answer["unchecked"])


def test_the_process_goes_on_and_ends_as_it_would_have(watched):
    process = watched("short loop").process
    assert process.stdout.read() == "done\n"
    assert process.wait() == 7


def test_it_is_never_paused(watched):
    assert not watched("queue").was_paused


@pytest.mark.parametrize("name", ["loop", "queue"])
def test_no_variable_but_the_counters_is_kept(watched, name):
    shown = json.dumps(watched(name).answer) + watched(name).page(verbose=True)
    assert [secret for secret in ("s3cr3t", "cr3tcr3t", "73194625", "k3y") if secret in shown] == []
    assert '"step": ' in shown


def test_verbose_has_every_stack(watched):
    shown = watched("regex").page(verbose=True)
    assert f"train.py:{here(REGEX)} in <module>" in shown
    assert "in run" in shown
    assert "Ruled out" in shown


def test_files_memory_and_children(watched):
    seen = watched("child").answer["attach"]
    [child] = seen["children"]
    assert child["name"].startswith("python")
    assert child["call"] == "sleep"
    assert seen["files"]["count"] >= 3
    assert seen["files"]["limit"]
    assert seen["samples"][-1]["rss"] > 1e6
    assert seen["python"] == f"{sys.version_info[0]}.{sys.version_info[1]}"


def test_the_child_of_a_shell_is_named(start, refusal, fields):
    shell = start(QUEUE, before=("/bin/sh", "-c", '"$@"; true', "sh"))
    said = refusal(shell.pid)
    assert "is not a Python process" in said
    child = int(said.split()[-1])
    assert Path(f"/proc/{child}/comm").read_text().startswith("python")
    assert f"its child {child} is: laststep attach {child}" in said


def test_there_is_no_such_process(refusal):
    done = subprocess.Popen(["true"])
    done.wait()
    assert f"there is no process {done.pid}" in refusal(done.pid)


def test_a_program_that_is_not_python(refusal):
    process = subprocess.Popen(["sleep", "100"])
    try:
        assert f"process {process.pid} (sleep) is not a Python process" in refusal(process.pid)
    finally:
        process.kill()
        process.wait()


def test_a_zombie(refusal):
    process = subprocess.Popen(["true"])
    deadline = time.monotonic() + 10
    while "\nState:\tZ" not in Path(f"/proc/{process.pid}/status").read_text() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert "has ended already: it is a zombie" in refusal(process.pid)
    process.wait()


def test_a_stopped_process(start, refusal):
    process = start(LOOP, "3")
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(0.3)
    said = refusal(process.pid)
    assert "SIGSTOP" in said
    assert f"kill -CONT {process.pid}" in said
    os.kill(process.pid, signal.SIGCONT)
    assert process.wait(30) == 7


def test_a_thread_is_not_a_process(start, refusal):
    process = start(REGEX)
    other = next(int(name) for name in os.listdir(f"/proc/{process.pid}/task") if int(name) != process.pid)
    assert f"{other} is a thread of process {process.pid}" in refusal(other)


def test_a_process_that_dies_while_it_is_watched(start, refusal):
    process = start(LOOP, "60")
    threading.Timer(1.5, process.kill).start()
    said = refusal(process.pid)
    assert f"process {process.pid} ended while laststep watched it" in said
    assert "train.py:" in said


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs rights to give up")
def test_not_permitted(start):
    process = start(QUEUE)
    command = ["setpriv", "--bounding-set=-sys_ptrace", sys.executable, "-m", "laststep", "attach", str(process.pid)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": SRC}, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--cap-add SYS_PTRACE" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_one_that_laststep_records_already(start, fields, refusal, tmp_path):
    run = start(QUEUE, before=(sys.executable, "-m", "laststep", "run"), env={"PYTHONPATH": SRC})
    [folder] = [path for path in (tmp_path / ".laststep").iterdir() if path.is_dir()]
    child = int((folder / "recorded").read_text().split()[0])
    run.pid, supervisor = child, run.pid
    try:
        assert fields(run)["attach"]["recorded"] == str(folder)
    finally:
        run.pid = supervisor
    assert f"process {supervisor} is laststep itself, which records process {child}" in refusal(supervisor)


@pytest.mark.parametrize("words", [["12", "--seconds", "2"], ["twelve"], []])
def test_bad_arguments(words, capsys):
    with pytest.raises(SystemExit) as left:
        main(["attach", *words])
    assert left.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


FIT = """
import hashlib, os, sys, time
import keras, numpy as np, tensorflow as tf
keras.utils.set_random_seed(1)
tf.config.experimental.enable_op_determinism()
data = np.random.rand(64, 8).astype("float32")
def batches():
    while True:
        time.sleep(0.03)
        yield data, data.sum(1, keepdims=True)
class Ready(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if self.params and batch == 2 and not self.model.ready:
            self.model.ready = True
            print("READY", flush=True)
signature = (tf.TensorSpec((64, 8)), tf.TensorSpec((64, 1)))
dataset = tf.data.Dataset.from_generator(batches, output_signature=signature)
model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.ready = False
model.fit(dataset, epochs=3, steps_per_epoch=60, verbose=0, callbacks=[Ready()])
print(hashlib.sha256(b"".join(w.tobytes() for w in model.get_weights())).hexdigest(), flush=True)
sys.exit(3)
"""
STARVED = """
import queue
import keras, numpy as np, tensorflow as tf
waiting = queue.Queue()
for _ in range(70):
    waiting.put(np.zeros((4, 8), "float32"))
def batches():
    while True:
        if waiting.empty():
            print("READY", flush=True)
        batch = waiting.get()                          # <- here
        yield batch, batch[:, :1]
signature = (tf.TensorSpec((4, 8)), tf.TensorSpec((4, 1)))
dataset = tf.data.Dataset.from_generator(batches, output_signature=signature)
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(dataset, epochs=10, steps_per_epoch=50, verbose=0)
"""
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "2", "CUDA_VISIBLE_DEVICES": "-1"}


def test_a_training_with_an_attach_in_its_midst_is_the_same(start, fields):
    bare, process = start(FIT, env=QUIET), start(FIT, env=QUIET)
    seen = fields(process)["attach"]
    alone = (bare.stdout.read(), bare.wait())
    assert (process.stdout.read(), process.wait()) == alone
    assert alone[1] == 3
    assert len(alone[0]) == 65
    assert seen["state"] == "moving"
    assert seen["tensorflow"] is True
    assert seen["counters"]["epochs"] == 3
    assert seen["counters"]["steps_per_epoch"] == 60
    assert 0 < seen["steps_per_second"] < 34
    assert " of 3, batch " in seen["progress"]


def test_a_training_that_waits_for_data(start, fields):
    process = start(STARVED, env=QUIET)
    time.sleep(1.0)
    answer = fields(process, seconds=10)
    found = answer["findings"][0]
    assert (found["rule"], found["confidence"]) == ("input-blocked", "LIKELY")
    assert found["where"]["line"] == here(STARVED)
    assert answer["attach"]["progress"] == "epoch 2 of 10, batch 21 of 50"
    assert answer["run"]["outcome"] == "stalled"
    assert process.poll() is None
