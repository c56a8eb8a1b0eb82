"""Start a recorded program again for a side run: same command, folder and environment."""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

from laststep.record.events.supervisor import Launch
from laststep.record.events.training import FitStart, LoopSeen
from laststep.record.redact import HIDDEN
from laststep.record.run import Run
from laststep.record.seal import why_not_ours
from laststep.reports.printing import clean

MAX_CONFIRMED_CHARACTERS = 1200  # of a command that the user is asked about: it must fit one screen
SLOWDOWN_ALLOWED = 10.0  # times as long as in the recorded run until training starts
SECONDS_TO_START = 6.0  # of Python and its imports, before the same factor
MAX_OUTPUT_BYTES = 3000
MAX_OUTPUT_LINES = 12
# The variables that a record may set in the environment of a side run. A closed list, because variables with the same
# prefixes name a library to load (NCCL_NET_PLUGIN, OMP_TOOL_LIBRARIES, CUDA_INJECTION64_PATH).
ALLOWED_VARIABLES = frozenset(
    {
        *("TF_CPP_MIN_LOG_LEVEL", "TF_ENABLE_ONEDNN_OPTS", "TF_USE_LEGACY_KERAS", "TF_DETERMINISTIC_OPS"),
        *("TF_CUDNN_DETERMINISTIC", "TF_CUDNN_USE_AUTOTUNE", "TF_XLA_FLAGS", "XLA_FLAGS", "TF_GPU_ALLOCATOR"),
        *("TF_FORCE_GPU_ALLOW_GROWTH", "TF_GPU_THREAD_MODE", "TF_GPU_THREAD_COUNT", "TF_ENABLE_AUTO_MIXED_PRECISION"),
        *("TF_NUM_INTEROP_THREADS", "TF_NUM_INTRAOP_THREADS", "KERAS_BACKEND", "OMP_NUM_THREADS", "OMP_PROC_BIND"),
        *("OMP_PLACES", "OMP_DYNAMIC", "OMP_WAIT_POLICY", "MKL_NUM_THREADS", "MKL_DYNAMIC", "KMP_BLOCKTIME"),
        *("KMP_AFFINITY", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_LAUNCH_BLOCKING", "JAX_PLATFORMS"),
        *("JAX_ENABLE_X64", "MALLOC_ARENA_MAX", "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"),
    }
)


def why_not(recorded: Run) -> str:
    """Why the program can't be started again; "" if it can."""
    launch = recorded.first(Launch)
    if not recorded.command or launch is None:
        return f"{recorded.id} does not contain the command, so it can't be started again"
    if any(HIDDEN in word for word in recorded.command):
        return "the command contained a secret, which is not recorded, so it can't be started again"
    if recorded.alive:
        return f"{recorded.id} is still running: it and a side run would slow each other down"
    if launch.host != os.uname().nodename:
        return f"{recorded.id} ran on {launch.host}: a side run is only meaningful there"
    if not recorded.cwd or not Path(recorded.cwd).is_dir():
        return f"its working directory is gone: {recorded.cwd}"
    return ""


def add_consent(parser: argparse.ArgumentParser) -> None:
    what = "run the command of this run without asking, although this user did not record it here"
    parser.add_argument("--yes", metavar="RUN", help=what)


def may_start(recorded: Run, yes: str | None) -> bool:
    """A command from a record is run only if this user recorded it here, or after it was shown and confirmed."""
    launch = recorded.first(Launch)
    if launch is None or recorded.folder is None:
        return False
    untrusted = why_not_ours(launch, recorded.folder)
    if not untrusted or yes == recorded.id:
        return True
    wants = [f"it would run: {shlex.join(recorded.command)} (in {recorded.cwd})"]
    wants += [f"  with {name}={value}" for name, value in _applied(recorded).items()]
    for line in (f"{recorded.id} was not recorded here by you: {untrusted}", *wants):
        print(f"laststep: {one_line(line)}", file=sys.stderr)
    fits = len("".join(wants)) <= MAX_CONFIRMED_CHARACTERS
    if not fits or not (sys.stdin.isatty() and sys.stderr.isatty()):
        print(f"laststep: not run; if you trust it: --yes {shlex.quote(recorded.id)}", file=sys.stderr)
        return False
    print("laststep: run it? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def one_line(text: str) -> str:
    """A command must not look like two, or scroll its beginning off the screen."""
    return text.replace("\r", "\\r").replace("\n", "\\n")


def announce(recorded: Run, seconds: float | None, then: str) -> None:
    """Say what will be run, and for how long."""
    place = "" if Path(recorded.cwd) == Path.cwd() else f" (in {recorded.cwd})"
    duration = f" for about {seconds:.0f} s" if seconds is not None else ""
    print(f"laststep: starting it again{duration}: {one_line(' '.join(recorded.command) + place)}", file=sys.stderr)
    print(f"laststep: {then}", file=sys.stderr, flush=True)


def side_run(recorded: Run, folder: Path, seconds: float, asked: dict[str, str]) -> bool:
    """Run the program again in its own session; False if it had to be killed."""
    limit = seconds + SLOWDOWN_ALLOWED * (seconds_to_fit(recorded) + SECONDS_TO_START)
    with open(folder / "output", "wb") as output:
        process = subprocess.Popen(
            recorded.command,
            cwd=recorded.cwd,
            env=_environment(recorded, folder, asked | {"seconds": str(seconds)}),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            process.wait(limit)
            return True
        except subprocess.TimeoutExpired:
            return False
        finally:
            end_session(process)


def end_session(process: subprocess.Popen[bytes]) -> None:
    """Kill the process, and the child processes that it left behind."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()


def seconds_to_fit(recorded: Run) -> float:
    began = recorded.first(FitStart) or recorded.first(LoopSeen)
    return began.time - recorded.began if began is not None else 60.0


def _environment(recorded: Run, folder: Path, asked: dict[str, str]) -> dict[str, str]:
    from laststep.supervisor.command import recorded_environment

    return recorded_environment(folder, asked) | _applied(recorded)


def _applied(recorded: Run) -> dict[str, str]:
    launch = recorded.first(Launch)
    kept = launch.environment if launch else {}
    return {name: value for name, value in kept.items() if name in ALLOWED_VARIABLES and not _names_a_path(value)}


def _names_a_path(value: str) -> bool:
    """Programs would be loaded from there, as with --xla_gpu_cuda_data_dir=…"""
    return "/" in value or "_dir" in value or "\0" in value


def last_output(folder: Path) -> str:
    text = (folder / "output").read_bytes()[-MAX_OUTPUT_BYTES:].decode("utf-8", "replace")
    return "\n".join(f"  {clean(line)}" for line in text.splitlines()[-MAX_OUTPUT_LINES:])
