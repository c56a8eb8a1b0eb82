"""One case each: something real is spoiled, laststep reads it, and what must hold is checked."""

from __future__ import annotations

import contextlib
import gc
import gzip
import io
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from laststep.logs.line_reader import NotALog
from laststep.record.folder import NoSuchRun
from laststep.record.follow import Follower
from laststep.record.run import DamagedRun
from laststep.reports.printing import UNSAFE
from laststep.rules.diagnose import INCONSISTENT, read_diagnosis
from tests.fuzz.mutate import CANARY, EVIL, mutated_bytes, spoil
from tests.recordings import read_archive
from tests.supervisor import programs

HERE = Path(__file__).resolve().parent
SECONDS, MEGABYTES = 5.0, 500
REFUSALS = (DamagedRun, NotALog, NoSuchRun)
VERBS = (
    *(("why",), ("why", "-v"), ("why", "--json"), ("runs",), ("watch", "--once")),
    *(("tune",), ("prove",), ("replay",), ("profile", "--show")),
)


class Broke(AssertionError):
    """What must hold did not."""


class Meter:
    """What reading takes: processor time and memory, without what making the case took, or tests before it hold."""

    began, held = 0.0, 0

    def start(self) -> None:
        """Each case has a peak of its own; where the kernel can't forget one, only a higher one is seen."""
        gc.collect()  # a command reads one run; what the case before left in cycles is not this one's
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
        self.held = self._peak()
        self.began = time.process_time()

    def seconds(self) -> float:
        return time.process_time() - self.began

    def megabytes(self) -> int:
        return self._peak() - self.held

    @staticmethod
    def _peak() -> int:
        with contextlib.suppress(OSError):
            return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) >> 10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


meter = Meter()


@cache
def seeds() -> tuple[dict[str, bytes], ...]:
    """Real runs: the files of each, by name."""
    runs = read_archive()
    for folder in (HERE.parent / "recorded").iterdir():
        if folder.is_dir():
            runs[folder.name] = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    return tuple(runs[name] for name in sorted(runs))


def make_run(rng: random.Random, home: Path, name: str = "run") -> tuple[Path, list[str]]:
    folder = home / name
    folder.mkdir(parents=True)
    event = {"t": 5.0, "kind": "exception", "data": {"left": "program", "message": CANARY}}
    (home / "canary").write_text(f"{json.dumps(event)}\n{CANARY}\n")
    for file, content in rng.choice(seeds()).items():
        (folder / file).write_bytes(content)
    names = spoil(rng, folder)
    meter.start()
    return folder, names


def check_printed(text: str) -> None:
    import re

    found = re.search(UNSAFE, text)
    if found:
        raise Broke(f"printed {found[0]!r}")
    if CANARY in text:
        raise Broke("a file outside the folder was read")


def in_process(rng: random.Random, home: Path) -> list[str]:
    """A folder, read by the functions that the commands are made of."""
    from laststep.record.follow import Live
    from laststep.reports import json as pages
    from laststep.reports import terminal
    from laststep.reports.figures import view_of
    from laststep.reports.lines import line
    from laststep.reports.sheet import Sheet

    folder, names = make_run(rng, home)
    try:
        diagnosis = read_diagnosis(folder)
        Follower(folder).read()
        try:  # as the commands do
            shown = [terminal.page(diagnosis, verbose=verbose) for verbose in (False, True)]
            shown += [pages.page(diagnosis), line(view_of(diagnosis, Live(), time.time()), Sheet())]
        except INCONSISTENT:
            return [*names, "nonsense"]
    except REFUSALS:
        return [*names, "refused"]
    check_printed("\n".join(shown))
    json.loads(shown[2])
    return names


def of_a_log(rng: random.Random, home: Path) -> list[str]:
    from laststep.logs.read import parse_log, run_from_log
    from laststep.reports import json as pages
    from laststep.reports import terminal
    from laststep.rules.diagnose import diagnose

    console = rng.choice(seeds()).get("console", b"") or b"Epoch 1/3\n 10/10 - loss: nan\nKilled\n"
    content = mutated_bytes(rng, console * rng.choice((1, 1, 30)))
    if rng.random() < 0.2:
        content = mutated_bytes(rng, gzip.compress(content))
    try:
        diagnosis = diagnose(run_from_log(parse_log(io.BytesIO(content)), "a.log"))
        check_printed(terminal.page(diagnosis, verbose=True) + pages.page(diagnosis))
    except NotALog:
        return ["refused"]
    return []


@cache
def _profile() -> bytes:
    return gzip.decompress((HERE.parent / "profile" / "h200.xplane.pb.gz").read_bytes())


def of_a_profile(rng: random.Random, home: Path) -> list[str]:
    from laststep.profile.trace import read_trace

    home.mkdir(parents=True)
    (home / "a.xplane.pb").write_bytes(mutated_bytes(rng, _profile()[: rng.choice((1000, 100_000, None))]))
    try:
        read_trace(home / "a.xplane.pb")
    except DamagedRun:
        return ["refused"]
    return []


def by_command(rng: random.Random, home: Path) -> list[str]:
    """Through the command line, in a process with bounds of its own; a command in the record is never run."""
    name = rng.choice(("run", "20990101-000000-aaaa", f"x{EVIL}".replace("\udcff", "").replace("\n", "")))
    folder, names = make_run(rng, home / "here" / ".laststep", name)
    _plant(folder, home)
    verb = rng.choice(VERBS)
    named = verb[0] == "profile" or (verb[0] != "runs" and rng.random() < 0.5)
    words = [*verb, *([f".laststep/{name}"] if named else [])]
    ran = _bounded(words, home)
    if ran.returncode < 0:
        raise Broke(f"{words}: ended by signal {-ran.returncode}: out of bounds")
    shown = (ran.stdout + ran.stderr).decode("utf-8", "strict")
    if b"Traceback" in ran.stderr or "failed (MemoryError" in shown:  # a log that is quoted may hold one
        raise Broke(f"{words}: {shown[-300:]}")
    check_printed(shown)
    if (home / "executed").exists():
        raise Broke(f"{words}: the command of the record was run")
    return [*names, verb[0]]


def _plant(folder: Path, home: Path) -> None:
    """The launch asks for a command; as if recorded on this machine."""
    path = folder / "supervisor.jsonl"
    if path.is_symlink() or not path.is_file():
        return
    launch = {"command": ["touch", str(home / "executed")], "cwd": str(home), "host": os.uname().nodename}
    line = json.dumps({"t": 0.5, "kind": "run", "data": launch | {"environment": {"LD_PRELOAD": "x"}}})
    path.write_bytes(path.read_bytes().replace(b"\0", b"") + f"\n{line}\n".encode())


def _bounded(words: list[str], home: Path) -> subprocess.CompletedProcess[bytes]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(SECONDS) + 1,) * 2)
        resource.setrlimit(resource.RLIMIT_AS, ((MEGABYTES + 100) << 20,) * 2)

    kept = {key: value for key, value in os.environ.items() if not key.startswith("LASTSTEP_")}
    env = kept | {"HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "XDG_STATE_HOME": str(home / "state")}
    env |= {"PYTHONIOENCODING": "utf-8", "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-m", "laststep", *words]
    nothing = subprocess.DEVNULL
    try:
        given: dict[str, Any] = {"cwd": home / "here", "env": env, "stdin": nothing, "preexec_fn": limit}
        return subprocess.run(command, **given, capture_output=True, timeout=60, check=False)
    except subprocess.TimeoutExpired as error:
        raise Broke(f"{words}: hangs") from error


def with_and_without(rng: random.Random, home: Path) -> list[str]:
    """A small program, bare and recorded, in the same conditions: the same in all that can be seen from outside."""
    program, condition = rng.choice(list(programs.PROGRAMS)), rng.choice(programs.CONDITIONS)
    seen = []
    for recorded in (False, True):
        (home / "here").mkdir(parents=True)
        seen.append(programs.run(program, condition, home / "here", recorded))
        shutil.rmtree(home / "here")
    if seen[0] != seen[1]:
        raise Broke(f"{program}, {condition.name}: bare {str(seen[0])[-200:]}, recorded {str(seen[1])[-200:]}")
    return [program, condition.name]


Case = Callable[[random.Random, Path], list[str]]
# What is tried, and how often of a hundred. A new kind of case is a function and a line here.
CASES: dict[Case, int] = {in_process: 58, of_a_log: 20, of_a_profile: 10, by_command: 8, with_and_without: 4}


def run_case(seed: str, home: Path) -> dict[str, Any]:
    """One case by its seed: what it was, and why it broke ("" when it held)."""
    rng = random.Random(seed)
    case = rng.choices(list(CASES), list(CASES.values()))[0]
    meter.start()
    broke, names = "", []
    try:
        names = case(rng, home)
    except Broke as error:
        broke = str(error)
    except Exception as error:  # noqa: BLE001
        broke = f"{type(error).__name__}: {error}"[:300]
    spent, peak = meter.seconds(), meter.megabytes()
    if not broke and (spent > SECONDS or peak > MEGABYTES):
        broke = f"took {spent:.1f} s and {peak} MB"
    shutil.rmtree(home, ignore_errors=True)
    return {"seed": seed, "case": case.__name__, "did": names, "broke": broke, "seconds": spent, "peak": peak}
