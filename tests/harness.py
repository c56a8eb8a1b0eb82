"""Scenarios: small real trainings with a known end. Read them, run them with or without laststep."""

from __future__ import annotations

import ast
import contextlib
import functools
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laststep.record.event import Event
from laststep.record.events.process import ProbeState
from laststep.record.journal import read_journal

SCENARIOS = Path(__file__).parent / "scenarios"
LASTSTEP = [sys.executable, "-m", "laststep"]
HERE = "# <- here"
READY = b"READY"
FORECAST = re.compile(rb"\nlaststep: memory runs out [^\n]*\n")
MAX_SECONDS = 120.0
DIRECTIVES = {
    "expect",
    "also",
    "exit",
    "outcome",
    "do",
    "to",
    "by",
    "after",
    "memory",
    "env",
    "needs",
    "when",
    "stall",
    "seconds",
    "starves",
}
VALUES = {
    "outcome": ("finished", "stopped", "crashed"),
    "when": ("all", "test"),
    "to": ("supervisor", "program", "group"),
    "needs": ("mounts", "kernel-log"),
    "stall": ("yes",),
}
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True)
class Scenario:
    """One small real train.py, and what its docstring says must come of it.

    expect:  the rule of findings[0], or `healthy`: no finding at all
    also:    a rule that is found below it, because it follows from it
    exit:    the exit code, or the name of the signal that it dies of
    outcome: finished, stopped or crashed
    when:    run for real in make `test`, or only in `all` (make test-all, the default); a recording is always diagnosed
    do:      `signal SIGTERM`: sent once the program has written the line READY on stdout
    to:      who gets it: supervisor (the default), program, or group (all of them at once)
    by:      the name of the process that sends it, such as slurmstepd
    after:   seconds after READY until it is sent: for so long the program hangs
    memory:  run in a fresh memory control group with this limit
    env:     `NAME=VALUE …` put into its environment; the value now+5 is the time then plus 5 s, in epoch seconds
    needs:   `mounts` (a private mount namespace) or `kernel-log` (to write to it): skipped where that can't be had
    seconds: how long it may take, where that is more than two minutes
    stall:   `yes`: it hangs for good; laststep is asked to stop it once it has said why (--on-stall stop)
    starves: words of an error that probes of ours may fail with, because the program leaves them nothing either
    """

    name: str
    source: str
    title: str
    expect: str
    exit: int
    outcome: str
    signal: int | None = None
    to: str = "supervisor"
    by: str = ""
    after: float = 0.0
    memory: int | None = None
    env: tuple[tuple[str, str], ...] = ()
    needs: str | None = None
    also: str = ""
    is_live: bool = False
    here: int | None = None
    stall: bool = False
    seconds: float = MAX_SECONDS
    starves: str = ""

    @property
    def rule(self) -> str:
        """The rule that the file is about, whatever it expects."""
        return self.name.split("__")[0].replace("_", "-")

    @property
    def is_near_miss(self) -> bool:
        return "__near_miss" in self.name

    @property
    def head(self) -> int:
        """How many lines its docstring takes."""
        return ast.parse(self.source).body[0].end_lineno or 0

    @property
    def program(self) -> tuple[object, ...]:
        """What is run and how: a recording of it is out of date when this differs."""
        code = [line.rstrip().removesuffix(HERE).rstrip() for line in self.source.splitlines()[self.head :]]
        after = (self.after,) if self.after else ()
        return code, self.signal, self.to, self.by, self.memory, self.env, self.stall, *after


def read_scenario(path: Path) -> Scenario:
    return parse_scenario(path.stem, path.read_text())


def parse_scenario(name: str, source: str) -> Scenario:
    text = ast.get_docstring(ast.parse(source)) or ""
    said = dict(re.findall(r"^(\w+): (.+?)\s*$", "\n".join(text.splitlines()[1:]), re.MULTILINE))
    if not said.keys() <= DIRECTIVES or not said.keys() >= {"expect", "exit", "outcome"}:
        raise ValueError(f"{name}: directives {sorted(said)}")
    for directive, values in VALUES.items():
        if said.get(directive, values[0]) not in values:
            raise ValueError(f"{name}: {directive}: {said[directive]}")
    marked = [number for number, line in enumerate(source.splitlines(), 1) if line.rstrip().endswith(HERE)]
    if len(marked) > 1:
        raise ValueError(f"{name}: {len(marked)} lines are marked with {HERE}")
    return Scenario(
        name=name,
        source=source,
        title=text.splitlines()[0],
        expect=said["expect"],
        exit=_exit_status(said["exit"]),
        outcome=said["outcome"],
        signal=_signal_to_send(said["do"]) if "do" in said else None,
        to=said.get("to", "supervisor"),
        by=said.get("by", ""),
        after=float(said.get("after", 0.0)),
        memory=int(said["memory"][:-1]) * UNITS[said["memory"][-1]] if "memory" in said else None,
        env=tuple((word.partition("=")[0], word.partition("=")[2]) for word in said.get("env", "").split()),
        needs=said.get("needs"),
        also=said.get("also", ""),
        is_live=said.get("when") == "test",
        here=marked[0] if marked else None,
        stall="stall" in said,
        seconds=float(said.get("seconds", MAX_SECONDS)),
        starves=said.get("starves", ""),
    )


def _exit_status(text: str) -> int:
    return -int(signal.Signals[text]) if text.startswith("SIG") else int(text)


def _signal_to_send(text: str) -> int:
    verb, name = text.split()
    if verb != "signal":
        raise ValueError(f"do: {text}")
    return int(signal.Signals[name])


@functools.cache
def all_scenarios() -> tuple[Scenario, ...]:
    """By name; the folder of a scenario is the symptom of the rule that it is about, or `healthy`."""
    return tuple(sorted((read_scenario(path) for path in SCENARIOS.glob("*/*.py")), key=lambda each: each.name))


def scenario(name: str) -> Scenario:
    return next(found for found in all_scenarios() if found.name == name)


@dataclass
class Ran:
    """What a program wrote and how it ended; with laststep also the folder of the record."""

    status: int
    stdout: bytes
    stderr: bytes
    cwd: Path
    seconds: float
    folder: Path | None = None

    def events(self) -> list[Event]:
        assert self.folder is not None
        journals = [self.folder / "supervisor.jsonl", *sorted(self.folder.glob("recorder.*.jsonl"))]
        return [event for path in journals for event in read_journal(path)]

    @property
    def answer_at(self) -> int:
        """Where the program's own stderr ends and laststep's answer begins."""
        assert self.folder is not None
        head = f"\nlaststep · {self.folder.name}".encode()
        line = b"laststep: finished, "
        at = self.stderr.rfind(head)
        return at if at >= 0 else self.stderr.rfind(line)

    @property
    def own_stderr(self) -> bytes:
        assert self.answer_at >= 0, f"no answer of laststep on stderr:\n{self.stderr.decode()}"
        before, _, _ = self.stderr[: self.answer_at].partition(b"\nlaststep: no progress")
        return FORECAST.sub(b"", before)

    @property
    def forecasts(self) -> list[str]:
        """What laststep said while the program ran."""
        return [line.decode() for line in FORECAST.findall(self.stderr)]

    @property
    def last_words(self) -> str:
        """The answer that laststep wrote on stderr when the program had ended."""
        assert self.answer_at >= 0, f"no answer of laststep on stderr:\n{self.stderr.decode()}"
        return self.stderr[self.answer_at :].decode()


class CannotRun(Exception):
    """This machine can't do what the scenario needs; the test is skipped with this reason."""


def run_scenario(asked: Scenario, cwd: Path, recorded: bool) -> Ran:
    """For real, in this folder, which is made."""
    _can_run(asked)
    cwd.mkdir(parents=True)
    (cwd / "train.py").write_text(asked.source)
    home = cwd / "laststep"
    command = [sys.executable, "train.py"]
    if recorded:
        command = [*LASTSTEP, "run", *(["--on-stall", "stop"] if asked.stall else []), *command]
    with _memory_group(asked.memory) as procs:
        env = environment(cwd, home) | {name: _value(text) for name, text in asked.env}
        ran = _watch(_in_group(command, procs), asked, cwd, env, home if recorded else None)
    if recorded:
        ran.folder = _folder_in(home, ran)
        _nothing_swallowed(asked, ran)
    return ran


def run_program(source: str, cwd: Path, recorded: bool) -> Ran:
    """Any program that ends by itself, in the same way."""
    return run_scenario(Scenario("program", source, "", "healthy", 0, "finished"), cwd, recorded)


def default_signals() -> None:
    """Under nohup, or behind an & in a script, some are ignored, and would be in all programs that are started here."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def _can_run(asked: Scenario) -> None:
    if asked.needs == "mounts" and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        raise CannotRun("no private mount namespace can be made here")
    if asked.needs == "kernel-log" and not os.access("/dev/kmsg", os.W_OK):
        raise CannotRun("the kernel's log can't be written here")


def _value(text: str) -> str:
    later = re.fullmatch(r"now\+(\d+)", text)
    return str(int(time.time()) + int(later[1])) if later else text


def environment(cwd: Path, home: Path) -> dict[str, str]:
    """Little, and the same for all: nothing of this machine's own settings."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "VIRTUAL_ENV") if name in os.environ}
    return kept | {
        "HOME": str(cwd),
        "LASTSTEP_DIR": str(home),
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "CUDA_VISIBLE_DEVICES": "-1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "LASTSTEP_OTHERS": "0",  # that other tests keep the cores busy is true, and not what a scenario is about
    }


def _in_group(command: list[str], procs: Path | None) -> list[str]:
    if procs is None:
        return command
    return ["/bin/sh", "-c", 'echo $$ > "$0" && exec "$@"', str(procs), *command]


@contextlib.contextmanager
def _memory_group(limit: int | None) -> Iterator[Path | None]:
    """A fresh memory control group, version 1 or 2; gives the file that takes the process."""
    if limit is None:
        yield None
        return
    folder = _make_group(limit)
    try:
        yield folder / "cgroup.procs"
    finally:
        for _ in range(50):
            with contextlib.suppress(OSError):
                folder.rmdir()
                break
            time.sleep(0.1)


def _make_group(limit: int) -> Path:
    name = f"laststep-test-{os.getpid()}-{time.monotonic_ns()}"
    version1, version2 = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
    is_1 = (version1 / "memory.limit_in_bytes").exists()
    folder = (version1 if is_1 else version2) / name
    try:
        if not is_1 and not (version2 / "cgroup.controllers").exists():
            raise CannotRun("no memory control groups on this machine")
        folder.mkdir()
        if is_1:
            (folder / "memory.limit_in_bytes").write_text(str(limit))
            with contextlib.suppress(OSError):  # swap is not counted everywhere
                (folder / "memory.memsw.limit_in_bytes").write_text(str(limit))
        else:
            (folder / "memory.max").write_text(str(limit))
            with contextlib.suppress(OSError):
                (folder / "memory.swap.max").write_text("0")
    except OSError as error:
        with contextlib.suppress(OSError):
            folder.rmdir()
        raise CannotRun(f"no memory control group can be made here: {error}") from None
    return folder


def _watch(command: list[str], asked: Scenario, cwd: Path, env: dict[str, str], home: Path | None) -> Ran:
    """Start it, send what is to be sent when it says READY, and collect all that it writes."""
    began = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    collected: dict[str, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}
    is_ready = threading.Event()
    readers = [
        threading.Thread(target=_collect, args=(getattr(process, name), into, is_ready), daemon=True)
        for name, into in collected.items()
    ]
    for reader in readers:
        reader.start()
    try:
        if asked.signal is not None:
            assert _ready_or_dead(is_ready, process), f"never READY:\n{collected['stderr'].decode()[-3000:]}"
            time.sleep(asked.after)
            _send(asked, process.pid, home)
        process.wait(max(1.0, asked.seconds - (time.monotonic() - began)))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        tail = collected["stderr"].decode(errors="replace")[-3000:]
        raise AssertionError(f"{asked.name} still ran after {asked.seconds:.0f} s:\n{tail}") from None
    for reader in readers:
        reader.join(10)
    seconds = time.monotonic() - began
    return Ran(process.returncode, bytes(collected["stdout"]), bytes(collected["stderr"]), cwd, seconds)


def _collect(stream: Any, into: bytearray, is_ready: threading.Event) -> None:
    while chunk := os.read(stream.fileno(), 65536):
        into += chunk
        if READY in into:
            is_ready.set()


def _ready_or_dead(is_ready: threading.Event, process: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + MAX_SECONDS
    while not is_ready.wait(0.05):
        if process.poll() is not None or time.monotonic() > deadline:
            return is_ready.wait(0.5)
    return True


def _send(asked: Scenario, pid: int, home: Path | None) -> None:
    assert asked.signal is not None
    if asked.by:
        _send_by(asked.by, pid, asked.signal)
    elif asked.to == "group":
        os.killpg(pid, asked.signal)
    elif asked.to == "program" and home is not None:
        os.kill(_program_under(home), asked.signal)
    else:
        os.kill(pid, asked.signal)


def _send_by(name: str, pid: int, number: int) -> None:
    """From a process of this name, which lives long enough to be asked for it."""
    with tempfile.TemporaryDirectory() as folder:
        named = Path(folder, name)
        named.symlink_to(os.path.realpath(sys.executable))
        subprocess.run([named, "-c", f"import os, time; os.kill({pid}, {number}); time.sleep(1)"], check=True)


def _program_under(home: Path) -> int:
    (journal,) = home.glob("*/recorder.*.jsonl")
    return int(journal.name.split(".")[1])


def _folder_in(home: Path, ran: Ran) -> Path:
    folders = [folder for folder in home.glob("*") if folder.is_dir()]
    assert len(folders) == 1, f"{len(folders)} run folders:\n{ran.stderr.decode()}"
    return folders[0]


def _nothing_swallowed(asked: Scenario, ran: Ran) -> None:
    """Loud in tests: the guard keeps our errors from the host, not from us."""
    probes = [event for event in ran.events() if isinstance(event, ProbeState) and event.state != "unsupported"]
    unexpected = [probe for probe in probes if not asked.starves or asked.starves not in probe.because]
    failed = [f"{probe.name} {probe.state}: {probe.because}" for probe in unexpected]
    assert not failed, "the guard swallowed errors of laststep's own:\n  " + "\n  ".join(failed)
