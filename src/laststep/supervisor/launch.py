"""Run the user's command so that nobody can tell, recorded from inside and outside; give back its own end."""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import laststep
from laststep.record import folder as folders
from laststep.record.journal import JournalWriter
from laststep.record.redact import environment_worth_keeping, hide_secrets
from laststep.record.seal import signed
from laststep.recorder.guard import attempt
from laststep.settings import Settings
from laststep.supervisor import streams, terminal
from laststep.supervisor.again import PREVIOUS
from laststep.supervisor.command import full_command, recorded_environment, why_blind
from laststep.supervisor.kernel_log import KernelLog
from laststep.supervisor.program import Program, Start
from laststep.supervisor.relay import Relay
from laststep.supervisor.signals import ALL, Arrived, die_of, signal_name, split_status, stop_by, wait_for_signal

if TYPE_CHECKING:
    from laststep.supervisor.autopsy import Autopsy
    from laststep.supervisor.stall import Stalls
    from laststep.supervisor.watch import Watcher

FEW_PROCESSES = 64
MOST_RELAYS = 100  # one that dies at once must not keep us busy for ever
LAST_OUTPUT_SECONDS = 5.0
ELAPSED = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # never set back
# These end nobody by default: no news.
HARMLESS = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}


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
        self._old_mask: set[signal.Signals | int] = signal.pthread_sigmask(signal.SIG_BLOCK, [])
        self._children_ignored = signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN
        self._streams: list[streams.Stream] = []
        self._relay: Relay | None = None
        self._relays = 0
        self._copiers: list[threading.Thread] = []  # in place of a relay
        self._program: Program | None = None
        self._autopsy: Autopsy | None = None
        self._watcher: Watcher | None = None
        self._stalls: Stalls | None = None
        self._say = self._at_raw_terminal(say) if say is not None else None
        self._settings = settings or Settings()
        self.began, self._started = time.time(), time.clock_gettime(ELAPSED)
        self.pid = 0

    def start(self) -> None:
        """CannotExec when the command is none; another OSError when we can't have what we need: see give_up."""
        leave_processes_to_the_program()
        self._old_mask = signal.pthread_sigmask(signal.SIG_BLOCK, ALL)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, the system would not keep how the program ended
        streams.reserve_standard()
        self._streams = streams.plan()
        # Before any thread, and before the folder is held, which a fork would share.
        self._relay = Relay(self._streams, self.folder / folders.CONSOLE)
        self._journal = open_journal(self.folder)
        attempt(describe_run, self._journal, self.command, self.began)
        self._kernel = KernelLog()
        self._program = self._start_program(self._relay)
        self.pid = self._program.pid

    def wait(self) -> tuple[int | None, int | None]:
        """(exit code, None) or (None, signal number)."""
        assert self._program is not None
        attempt(self._watch, self._kernel)
        status = self._wait(self._program)
        ended, seconds = time.time(), time.clock_gettime(ELAPSED) - self._started
        attempt(self._finish_output)
        code, number = split_status(status)
        attempt(self._bury)
        end = {"code": code, "signal": number and signal_name(number), "seconds": seconds, "pid": self.pid}
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

    def _at_raw_terminal(self, say: Callable[[str], None]) -> Callable[[str], None]:
        """A terminal that is lent to the program makes no line endings."""
        return lambda text: say(text.replace("\n", "\r\n") if self._relay and self._relay.attached else text)

    def _tell_stall(self) -> None:
        """While it is stuck: the cause, on stderr; the run folder has it already."""
        from laststep.reports.notice import stall_notice
        from laststep.rules.diagnose import read_diagnosis

        if self._say is not None:
            self._say(stall_notice(read_diagnosis(self.folder), self._settings.on_stall))

    @property
    def stopped_stuck(self) -> bool:
        """Whether we ended the program, as asked, because it was stuck."""
        return self._stalls is not None and self._stalls.stopped

    def restore_signals(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._old_mask)

    def _foresee(self, sample: dict[str, Any]) -> None:
        """Loaded when the program has run for a while, best before its first step; needed when it trains."""
        if sample["cpu"] is None:
            return  # the first sample, of a program that may end at once
        from laststep.supervisor.foresee import Forecaster

        if not (sample.get("inside") or {}).get("step"):
            return
        assert self._watcher is not None
        forecaster = Forecaster(self.folder, self.pid, self._journal, self._say, "save" in self._asked)
        self._watcher.at_sample[self._watcher.at_sample.index(self._foresee)] = forecaster.see

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

    def _start_program(self, relay: Relay) -> Program:
        given = [stream for stream in self._streams if stream.give >= 0]
        typed = next((stream for stream in given if stream.takes_input), None)
        start = Start(
            command=self.command,
            environ=recorded_environment(self.folder, self._asked),
            mask=self._old_mask,
            files={fd: stream.give for stream in given for fd in stream.targets},
            ignores_children=self._children_ignored,
        )
        if typed is not None:
            start.in_front = terminal.is_in_front(0)
            if terminal.is_controlling(0):
                start.terminal, start.is_job = typed.give, terminal.is_job()
            if start.in_front:
                relay.attach(True)
        program = Program(start)
        for stream in self._streams:
            if stream is not typed:  # what is typed ahead would be lost with the last one who has it open
                stream.close_given()
        return program

    def _finish_output(self) -> None:
        """All that was written is passed on; what was typed and not read is for the shell: its next command."""
        typed = [stream for stream in self._streams if stream.takes_input and stream.give >= 0]
        unread = b"".join(terminal.take_unread(stream.give) for stream in typed)
        for stream in typed:
            stream.close_given()
        if self._relay is not None:
            self._relay.finish()
        for copier in self._copiers:
            copier.join(LAST_OUTPUT_SECONDS)
        if terminal.is_in_front(0):
            terminal.type_ahead(0, unread)

    def give_up(self) -> None:
        """The program could not be started with us beside it: leave nothing in the way of starting it alone."""
        if self._relay is not None:
            attempt(self._relay.attach, False)
            attempt(self._relay.kill)
        if self._children_ignored:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        self.restore_signals()

    def _wait(self, program: Program) -> int:
        """Until the program is dead; signals that reach only us are passed on, and where it stops, we stop."""
        while True:
            status, stopped_by = program.poll()
            if status is not None:
                return status
            if stopped_by is not None:
                self._stop(program, stopped_by)
            info = wait_for_signal()
            if info.si_signo == signal.SIGCHLD and (info.si_code or info.si_pid in self._ours):
                self._look_after_children()
            elif info.si_pid != os.getpid() or info.is_kernels:
                self._pass_on(program, info)

    @property
    def _ours(self) -> set[int]:
        """Our helpers: a SIGCHLD from one of them says that it has something to tell."""
        pids = {self._relay.pid if self._relay is not None else 0}
        return pids | {self._program.child if self._program is not None else 0}

    def _look_after_children(self) -> None:
        if self._relay is not None:
            self._relay.hear()
            if self._relay.is_dead():
                self._relays += 1
                self._relay = attempt(self._relay.again)[0] if self._relays < MOST_RELAYS else None
                if self._relay is None:
                    self._go_on_without_relay()
        self._reap_strangers()

    def _go_on_without_relay(self) -> None:
        """A pipe that nobody reads would hold the program up for ever."""
        from laststep.supervisor.pump import copy_plainly

        for stream in self._streams:
            if stream.takes_input:  # the dead relay may have left the user's terminal raw
                terminal.set_modes(0, terminal.get_modes(stream.give))
            if stream.read >= 0 and stream.kind != "file":
                copier = threading.Thread(target=copy_plainly, args=(stream,), daemon=True)
                _, trouble = attempt(copier.start)
                if trouble:
                    stream.close()
                else:
                    self._copiers.append(copier)

    def _reap_strangers(self) -> None:
        """As the first process of a container we inherit orphans: none may stay behind as a zombie."""
        if os.getpid() != 1:
            return
        while True:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if found is None or found.si_pid in self._ours:
                return
            os.waitpid(found.si_pid, os.WNOHANG)

    def _stop(self, program: Program, number: int) -> None:
        """The program was stopped. By its terminal: it gets it when we have it; else its shell must see us stop."""
        at_terminal = program.has_session and terminal.is_in_front(0)
        if at_terminal and number in (signal.SIGTTIN, signal.SIGTTOU):
            self._move(program)
            program.send(signal.SIGCONT, to_group=True)
        elif number != signal.SIGSTOP or (at_terminal and program.has_monitor):
            if self._relay is not None:
                self._relay.stopping(program.pid)
            stop_by(number)  # until we are continued: then SIGCONT waits for us, and is passed on
            if self._relay is not None:
                self._relay.running()

    def _move(self, program: Program) -> None:
        """Our job came to the foreground of the terminal or left it: so does the program in its own."""
        in_front = terminal.is_in_front(0)
        if self._relay is not None:
            self._relay.attach(in_front)
        program.move(to_front=in_front)

    def _pass_on(self, program: Program, info: Arrived) -> None:
        number = info.si_signo
        from_relay = self._relay is not None and info.si_pid == self._relay.pid
        if self._relay is not None and not from_relay:
            to_group = self._relay.reached_the_group(number)
        else:
            to_group = info.is_kernels
        if number not in HARMLESS:
            self._note(info, to_group)
        if number == signal.SIGCONT and program.has_session:
            self._move(program)
        if from_relay or self._has_it(program, info, to_group):
            return
        program.send(number, to_group)

    @staticmethod
    def _has_it(program: Program, info: Arrived, to_group: bool) -> bool:
        """Whether the program got this signal, too."""
        if info.is_kernels and info.si_signo in (signal.SIGWINCH, signal.SIGXCPU):
            return True  # of its own terminal; about our own processor time
        if not program.has_session:
            return to_group
        hung_up = info.is_kernels and info.si_signo in (signal.SIGHUP, signal.SIGCONT)
        return hung_up and not program.has_monitor  # it leads a session, as we do: its terminal is hung up, too

    def _note(self, info: Arrived, to_group: bool) -> None:
        from laststep.supervisor import host

        sender = None if info.is_kernels else {"pid": info.si_pid, "name": host.who(info.si_pid)}
        by = "terminal" if info.is_kernels else "process"
        self._journal.write(
            "signal", {"signal": signal_name(info.si_signo), "by": by, "sender": sender, "to_group": to_group}
        )


def leave_processes_to_the_program() -> None:
    """Where there may be few, ours would be those that the program then can't have."""
    import resource

    most = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    if 0 <= most < FEW_PROCESSES and os.geteuid() != 0:
        raise OSError(errno.EAGAIN, f"only {most} processes are allowed here")


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
    launch = {
        "command": hide_secrets(command),
        "cwd": str(working_directory()),
        "host": os.uname().nodename,
        "system": f"{os.uname().sysname} {os.uname().release}",
        "laststep": laststep.__version__,
        "supervisor": os.getpid(),
        "previous": os.environ.get(PREVIOUS),
        "environment": environment_worth_keeping(dict(os.environ)),
    }
    journal.write("run", signed(launch, began, Path(journal.path).parent), at=began)


def _asked_by(settings: Settings) -> dict[str, str]:
    """What is asked of the recorder by settings that are not the usual ones."""
    asked = {"save": "1"} if settings.save_before_death else {}
    usual = settings.keep_last_batch == Settings().keep_last_batch
    return asked if usual else asked | {"keep": str(settings.keep_last_batch)}


def die_alike(code: int | None, number: int | None) -> int:
    """End as the program ended: the same code, or the same signal, so that our own parent sees the same."""
    if number is None:
        return code or 0
    die_of(number)
    return 128 + number  # not reached: the signal is deadly by default
