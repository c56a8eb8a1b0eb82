"""Run the user's command so that nobody can tell, recorded from inside and outside; give back its own end."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import laststep
from laststep.blackbox import folder as folders
from laststep.blackbox.journal import JournalWriter
from laststep.recorder.guard import attempt
from laststep.settings import Settings
from laststep.supervisor import relay
from laststep.supervisor.again import PREVIOUS, RESTARTS
from laststep.supervisor.kernel_log import KernelLog

if TYPE_CHECKING:
    from laststep.supervisor.autopsy import Autopsy
    from laststep.supervisor.stall import Stalls
    from laststep.supervisor.watch import Watcher

RECORDER = Path(laststep.__file__).resolve().parent / "recorder"
GROUP_WAIT = 0.05  # how long to wait for the relay's word that a signal went to the whole group
SI_KERNEL = 0x80  # sent by the kernel itself: the terminal's Ctrl-C, which the program got too
ENVIRONMENT_PREFIXES = (
    *("TF_", "KERAS_", "XLA_", "CUDA_", "JAX_", "NCCL_"),
    *("OMP_", "MKL_", "KMP_", "MALLOC_", "SLURM_JOB"),
)
SECRET = {"KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PWD", "CREDENTIAL", "CREDENTIALS", "AUTH"}


def environment_worth_keeping(environ: dict[str, str]) -> dict[str, str]:
    """The few variables that change how training runs; never one whose name speaks of a secret."""
    return {
        name: value[:300]
        for name, value in environ.items()
        if name.startswith(ENVIRONMENT_PREFIXES) and not speaks_of_a_secret(name)
    }


def speaks_of_a_secret(name: str) -> bool:
    """By whole words: --api-key does, --tokenizer and --max-tokens do not."""
    return not SECRET.isdisjoint(re.split(r"[^A-Z]+", name.upper()))


def hide_secrets(command: list[str]) -> list[str]:
    """--token=abc and --token abc become --token=… : a command line is stored, its secrets are not."""
    shown: list[str] = []
    hide_next = False
    for word in command:
        name, equals, _ = word.partition("=")
        secret = speaks_of_a_secret(name)
        if hide_next and not word.startswith("-"):
            shown.append("…")
        elif secret and equals:
            shown.append(f"{name}=…")
        else:
            shown.append(word)
        hide_next = secret and not equals and word.startswith("-")
    return shown


def python_for_scripts() -> str:
    """The Python for `laststep run train.py`: the active environment's, or ours if it can train, or the one on PATH."""
    import importlib.util

    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        candidate = Path(os.environ.get(name, "/nonexistent")) / "bin" / "python"
        if candidate.exists():
            return str(candidate)
    if any(importlib.util.find_spec(library) for library in ("tensorflow", "keras", "tf_keras")):
        return sys.executable
    import shutil

    return shutil.which("python") or shutil.which("python3") or sys.executable


def full_command(command: list[str]) -> list[str]:
    """`train.py …` and `-m package …` get a Python in front; all else is run as it stands."""
    if command[0] in ("-m", "-c") or (command[0].endswith(".py") and not os.access(command[0], os.X_OK)):
        return [python_for_scripts(), *command]
    if command[0].endswith(".py") and os.sep not in command[0]:
        return [python_for_scripts(), *command]
    return command


class Arrived(NamedTuple):
    """A signal that came, and from whom; where the system does not say (macOS), the sender is 0."""

    si_signo: int
    si_code: int = 0
    si_pid: int = 0


def wait_for_signal(wanted: list[signal.Signals]) -> Arrived:
    """The next of these blocked signals.

    Not sigtimedwait: after a stop and a continue CPython's returns a siginfo that nobody filled.
    """
    if hasattr(signal, "sigwaitinfo"):
        info = signal.sigwaitinfo(wanted)
        return Arrived(info.si_signo, info.si_code, info.si_pid)
    return Arrived(signal.sigwait(wanted))


class Supervisor:
    """One launch, from the fork of the relay to the last event. What fails of ours leaves the program alone."""

    def __init__(
        self,
        command: list[str],
        folder: Path,
        say: Callable[[str], None] | None = None,
        settings: Settings | None = None,
        asked: dict[str, str] | None = None,
    ) -> None:
        self.command = full_command(command)
        self.folder = folder
        self._asked = dict(asked or {}) | _asked_by(settings or Settings())
        self._streams = relay.plan()
        self._old_mask = signal.pthread_sigmask(signal.SIG_BLOCK, [*relay.FOR_THE_PROGRAM, signal.SIGCHLD])
        # Before any thread, and before the folder is held, which a fork would share.
        self._relay, _ = attempt(relay.Relay, self._streams, folder / folders.CONSOLE)
        self._journal = open_journal(folder)
        self._autopsy: Autopsy | None = None
        self._watcher: Watcher | None = None
        self._stalls: Stalls | None = None
        self._say = say
        self._settings = settings or Settings()
        self.began = time.time()
        self.pid = 0

    def run(self) -> tuple[int | None, int | None]:
        """(exit code, None) or (None, signal number)."""
        attempt(describe_run, self._journal, self.command, self.began)
        kernel = KernelLog()
        self.pid = self._spawn()
        attempt(self._watch, kernel)
        status = self._wait()
        ended = time.time()
        if self._relay is not None:
            attempt(self._relay.finish)
        code, number = _split(status)
        attempt(self._bury)
        end = {"code": code, "signal": number and signal_name(number), "seconds": ended - self.began, "pid": self.pid}
        end["name"] = self._watcher.name if self._watcher is not None else ""
        self._journal.write("end", end, at=ended)
        self._journal.close()
        return code, number

    def _watch(self, kernel: KernelLog) -> None:
        # The program is on its way: what takes time to load or to read comes now, not before.
        from laststep.supervisor.autopsy import Autopsy
        from laststep.supervisor.gpu import Gpus
        from laststep.supervisor.stall import Stalls
        from laststep.supervisor.watch import Watcher

        places = [working_directory(), self.folder]
        gpus = Gpus()
        self._autopsy = Autopsy(self._journal, self.folder, gpus, kernel)
        self._autopsy.before(places)
        self._watcher = Watcher(self.pid, self.folder, places, gpus, self._autopsy.note_groups)
        self._watcher.at_sample.append(self._foresee)
        self._watcher.start()
        watcher = self._watcher
        self._stalls = Stalls(
            *(self.pid, self.folder, self._journal, lambda: watcher.tree, lambda: watcher.cards, self._tell_stall),
            *(self._settings.on_stall, self._settings.stall_after),
        )
        self._stalls.start()

    def _tell_stall(self) -> None:
        """While it is stuck: the cause, on stderr; the run folder has it already."""
        from laststep.diagnose import read_diagnosis
        from laststep.reports.notice import stall_notice

        if self._say is not None:
            self._say(stall_notice(read_diagnosis(self.folder), self._settings.on_stall))

    @property
    def stopped_stuck(self) -> bool:
        """Whether we ended the program, as asked, because it was stuck."""
        return self._stalls is not None and self._stalls.stopped

    def restore_signals(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._old_mask)

    def _foresee(self, sample: dict[str, Any]) -> None:
        """Loaded when training is seen: a program that never trains needs none of it."""
        if not (sample.get("inside") or {}).get("step"):
            return
        from laststep.supervisor.foresee import Foresee

        assert self._watcher is not None
        foresee = Foresee(self.folder, self.pid, self._journal, self._say, "save" in self._asked)
        self._watcher.at_sample[self._watcher.at_sample.index(self._foresee)] = foresee.see

    def _bury(self) -> None:
        from laststep.supervisor.autopsy import tidy

        tree, disks = [self.pid], [str(working_directory()), str(self.folder)]
        if self._stalls is not None:
            self._stalls.stop()
        if self._watcher is not None:
            self._watcher.stop()
            tree = self._watcher.tree
            disks = [entry["path"] for entry in self._watcher.last.get("disks", [])] or disks
        if self._autopsy is not None:
            self._autopsy.after(tree, disks)
        if not any(self.folder.glob("recorder.*.jsonl")):
            self._journal.write("blind", {"because": why_blind(self.command)})
        tidy(self.folder)

    def _spawn(self) -> int:
        actions = [
            (os.POSIX_SPAWN_DUP2, stream.give, fd)
            for stream in self._streams
            if stream.give >= 0 and self._relay is not None
            for fd in stream.targets
        ]
        try:
            return os.posix_spawnp(
                self.command[0],
                self.command,
                recorded_environment(self.folder, self._asked),
                file_actions=actions,
                setsigmask=self._old_mask,
                setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],  # which our own Python ignores
            )
        finally:
            relay.close_given(self._streams)

    def _wait(self) -> int:
        """Until the program is dead; signals that reach only us are passed on."""
        wanted = [*relay.FOR_THE_PROGRAM, signal.SIGCHLD]
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return status
            info = wait_for_signal(wanted)
            if info.si_signo == signal.SIGCHLD:
                self._reap_strangers()
            else:
                self._pass_on(info)

    def _reap_strangers(self) -> None:
        """As the first process of a container we inherit orphans: none may stay behind as a zombie."""
        if os.getpid() != 1:
            return
        while True:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if found is None or found.si_pid == self.pid:
                return
            os.waitpid(found.si_pid, os.WNOHANG)

    def _pass_on(self, info: Arrived) -> None:
        from laststep.supervisor import host

        number = info.si_signo
        by_terminal = info.si_code == SI_KERNEL
        to_group = by_terminal or (self._relay is not None and self._relay.reached_the_group(number, GROUP_WAIT))
        self._journal.write(
            "signal",
            {
                "signal": signal_name(number),
                "by": "terminal" if by_terminal else "process",
                "sender": None if by_terminal else {"pid": info.si_pid, "name": host.who(info.si_pid)},
                "to_group": to_group,
            },
        )
        if not to_group:
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                pass


def open_journal(folder: Path) -> JournalWriter:
    """The supervisor's journal; the folder is held for as long as it records, so others know it is going on."""
    held, _ = attempt(folders.hold, folder)  # a filesystem without locks, a folder that is gone
    return JournalWriter(folder / folders.SUPERVISOR_JOURNAL, "supervisor", held=-1 if held is None else held)


def working_directory() -> Path:
    try:
        return Path.cwd()
    except OSError:  # deleted under us
        return Path("/")


def describe_run(journal: JournalWriter, command: list[str], began: float) -> None:
    journal.write(
        "run",
        {
            "command": hide_secrets(command),
            "cwd": str(working_directory()),
            "host": os.uname().nodename,
            "system": f"{os.uname().sysname} {os.uname().release}",
            "laststep": laststep.__version__,
            "supervisor": os.getpid(),
            "previous": os.environ.get(PREVIOUS),
            "environment": environment_worth_keeping(dict(os.environ)),
        },
        at=began,
    )


def recorded_environment(folder: Path, asked: dict[str, str] | None = None) -> dict[str, str]:
    """What makes the program's Python load the recorder; sitecustomize takes it all out again."""
    environ = {name: value for name, value in os.environ.items() if name not in (PREVIOUS, RESTARTS)}
    environ["LASTSTEP_RECORD"] = str(folder)
    environ["LASTSTEP_ASKED"] = ";".join(f"{name}={value}" for name, value in (asked or {}).items())
    path = environ.get("PYTHONPATH")
    if path is not None:
        environ["LASTSTEP_PYTHONPATH"] = path
    environ["PYTHONPATH"] = str(RECORDER) + (os.pathsep + path if path else "")
    return environ


def _asked_by(settings: Settings) -> dict[str, str]:
    """What is asked of the recorder by settings that are not the usual ones."""
    asked = {"save": "1"} if settings.save_before_death else {}
    usual = settings.keep_last_batch == Settings().keep_last_batch
    return asked if usual else asked | {"keep": str(settings.keep_last_batch)}


def why_blind(command: list[str]) -> str:
    """Nobody reported from inside: the reason, as far as the command shows it."""
    for word in command[1:]:
        if not word.startswith("-") or word in ("-m", "-c"):
            break
        if not word.startswith("--") and set(word[1:]) & set("IES"):
            return f"python {word} ignores the environment, so the recorder could not be loaded"
    if "python" not in os.path.basename(command[0]):
        return f"{os.path.basename(command[0])} started no Python that could load the recorder"
    return "the program's Python did not load the recorder"


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


def _split(status: int) -> tuple[int | None, int | None]:
    if os.WIFSIGNALED(status):
        return None, os.WTERMSIG(status)
    return os.WEXITSTATUS(status), None


def die_alike(code: int | None, number: int | None) -> int:
    """End as the program ended: the same code, or the same signal, so that our own parent sees the same."""
    import resource

    if number is None:
        return code or 0
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))  # its core, not ours
    signal.signal(number, signal.SIG_DFL) if number not in (signal.SIGKILL, signal.SIGSTOP) else None
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
    return 128 + number  # not reached: the signal is deadly by default
