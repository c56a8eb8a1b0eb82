"""Run the user's command unchanged, recorded from inside and outside, and end as it ends."""

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
from laststep.record.decode import encode
from laststep.record.journal import JournalWriter
from laststep.record.redact import environment_worth_keeping, hide_secrets
from laststep.record.seal import signed
from laststep.recorder.guard import attempt
from laststep.settings import Settings
from laststep.supervisor import pseudo_terminal, streams
from laststep.supervisor.again import PREVIOUS
from laststep.supervisor.command import full_command, recorded_environment, similar_scripts
from laststep.supervisor.kernel_log import KernelLog
from laststep.supervisor.program import Program, ProgramSetup
from laststep.supervisor.relay import Relay
from laststep.supervisor.signals import (
    CATCHABLE_SIGNALS,
    SignalInfo,
    die_of,
    signal_name,
    split_status,
    stop_by,
    wait_for_signal,
)

if TYPE_CHECKING:
    from laststep.supervisor.autopsy import Autopsy
    from laststep.supervisor.children import ChildWatcher
    from laststep.supervisor.stall import StallWatcher
    from laststep.supervisor.watcher import Watcher

MIN_PROCESS_LIMIT = 64
MAX_RELAYS = 100  # a relay that dies at once must not keep us busy forever
LAST_OUTPUT_SECONDS = 5.0
ELAPSED_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # cannot be set back
# By default these do not end a process: not worth an event.
UNRECORDED_SIGNALS = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}


class Supervisor:
    """One launch, from the fork of the relay to the last event. A failure of ours must not affect the program."""

    def __init__(
        self,
        command: list[str],
        folder: Path,
        say: Callable[[str], None] | None = None,
        settings: Settings | None = None,
        options: dict[str, str] | None = None,
        stall_notice: Callable[[Path], str] | None = None,
    ) -> None:
        """`say` prints for the user; None: nothing is printed. `stall_notice` describes a run folder that is stuck."""
        self.command = full_command(command)
        self.folder = folder
        self._options = dict(options or {}) | _options_from(settings or Settings())
        self._old_mask: set[signal.Signals | int] = signal.pthread_sigmask(signal.SIG_BLOCK, [])
        self._children_ignored = signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN
        self._streams: list[streams.Stream] = []
        self._relay: Relay | None = None
        self._relays = 0
        self._copy_threads: list[threading.Thread] = []  # in place of a relay
        self._program: Program | None = None
        self._autopsy: Autopsy | None = None
        self._watcher: Watcher | None = None
        self._children: ChildWatcher | None = None
        self._stalls: StallWatcher | None = None
        self._say = self._with_raw_line_endings(say) if say is not None else None
        self._stall_notice = stall_notice
        self._settings = settings or Settings()
        self.began, self._started = time.time(), time.clock_gettime(ELAPSED_CLOCK)
        self.pid = 0

    def start(self) -> None:
        """Raises CannotExec if the command cannot be executed, another OSError if we lack a resource: see give_up."""
        check_process_limit()
        self._old_mask = signal.pthread_sigmask(signal.SIG_BLOCK, CATCHABLE_SIGNALS)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if it were ignored, the kernel would not keep the exit status
        streams.reserve_standard_descriptors()
        self._streams = streams.plan_streams()
        # Before any thread, and before the folder is locked: a forked child would share the lock.
        self._relay = Relay(self._streams, self.folder / folders.CONSOLE)
        self._journal = open_journal(self.folder)
        attempt(describe_run, self._journal, self.command, self.began)
        self._kernel = KernelLog()
        self._program = self._start_program(self._relay)
        self.pid = self._program.pid

    def wait(self) -> tuple[int | None, int | None]:
        """(exit code, None) or (None, signal number)."""
        assert self._program is not None
        attempt(self._start_watching, self._kernel)
        status = self._wait(self._program)
        ended, seconds = time.time(), time.clock_gettime(ELAPSED_CLOCK) - self._started
        attempt(self._finish_output)
        code, number = split_status(status)
        attempt(self._examine_end)
        end = {"code": code, "signal": number and signal_name(number), "seconds": seconds, "pid": self.pid}
        end["name"] = self._watcher.name if self._watcher is not None else ""
        self._journal.write("end", end, at=ended)
        self._journal.close()
        return code, number

    def _start_watching(self, kernel: KernelLog) -> None:
        # The program has been started: load and read now what takes time.
        from laststep.supervisor.autopsy import Autopsy
        from laststep.supervisor.children import ChildWatcher
        from laststep.supervisor.gpu import Gpus
        from laststep.supervisor.stall import StallWatcher
        from laststep.supervisor.watcher import Watcher

        places = [working_directory(), self.folder]
        gpus = Gpus()
        self._autopsy = Autopsy(self._journal, self.folder, gpus, kernel)
        self._autopsy.before(places)
        self._watcher = Watcher(self.pid, self.folder, places, gpus, self._autopsy.note_groups)
        self._watcher.at_sample.append(self._start_foreseeing)
        self._children = ChildWatcher(self.pid, self.folder, self._journal)
        self._watcher.at_sample.append(self._children.see)
        self._watcher.start()
        watcher = self._watcher
        self._stalls = StallWatcher(
            *(self.pid, self.folder, self._journal, lambda: watcher.tree, lambda: watcher.cards, self._print_notice),
            *(self._settings.on_stall, self._settings.stall_after),
        )
        self._stalls.start()

    def _with_raw_line_endings(self, say: Callable[[str], None]) -> Callable[[str], None]:
        """While the terminal is lent to the program it is raw: end lines with \\r\\n ourselves."""
        return lambda text: say(text.replace("\n", "\r\n") if self._relay and self._relay.attached else text)

    def _print_notice(self) -> None:
        """While it is stuck: print the cause on stderr; the run folder already has it."""
        if self._say is not None and self._stall_notice is not None:
            self._say(self._stall_notice(self.folder))

    @property
    def stopped_stuck(self) -> bool:
        """Whether we ended the program because it was stuck, as configured."""
        return self._stalls is not None and self._stalls.stopped

    def restore_signals(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._old_mask)

    def _start_foreseeing(self, sample: dict[str, Any]) -> None:
        """Import it once the program has run for a while, preferably before its first step; use it while it trains."""
        if sample["cpu"] is None:
            return  # the first sample, of a program that may end immediately
        from laststep.supervisor.foresee import Forecaster

        if not (sample.get("inside") or {}).get("step"):
            return
        assert self._watcher is not None
        forecaster = Forecaster(self.folder, self.pid, self._journal, self._say, "save" in self._options)
        self._watcher.at_sample[self._watcher.at_sample.index(self._start_foreseeing)] = forecaster.see

    def _examine_end(self) -> None:
        from laststep.supervisor.autopsy import tidy

        tree, disks = [self.pid], [str(working_directory()), str(self.folder)]
        if self._stalls is not None:
            self._stalls.stop()
        if self._watcher is not None:
            self._watcher.stop()
            tree = self._watcher.tree
            disks = self._watcher.disks or disks
        if self._autopsy is not None:
            self._autopsy.after(tree, disks)
        if not any(self.folder.glob("recorder.*.jsonl")):
            self._note_closed_door()
        tidy(self.folder)

    def _note_closed_door(self) -> None:
        from laststep.supervisor.doors import closed_door

        children = self._children.commands if self._children is not None else []
        blind = closed_door(hide_secrets(self.command), self.folder, map(hide_secrets, children))
        self._journal.write(blind.KIND, encode(blind))

    def _start_program(self, relay: Relay) -> Program:
        replaced = [stream for stream in self._streams if stream.give >= 0]
        terminal_stream = next((stream for stream in replaced if stream.takes_input), None)
        start = ProgramSetup(
            command=self.command,
            environ=recorded_environment(self.folder, self._options),
            mask=self._old_mask,
            files={fd: stream.give for stream in replaced for fd in stream.targets},
            ignores_children=self._children_ignored,
        )
        if terminal_stream is not None:
            start.in_front = pseudo_terminal.is_in_front(0)
            if pseudo_terminal.is_controlling(0):
                start.terminal, start.is_job = terminal_stream.give, pseudo_terminal.is_job()
            if start.in_front:
                relay.attach(True)
        program = Program(start)
        for stream in self._streams:
            if (
                stream is not terminal_stream
            ):  # keep this one: once no process has it open, what was typed ahead is lost
                stream.close_given()
        return program

    def _finish_output(self) -> None:
        """Pass all output on. What was typed but not read is for the shell: its next command."""
        terminal_streams = [stream for stream in self._streams if stream.takes_input and stream.give >= 0]
        unread = b"".join(pseudo_terminal.take_unread(stream.give) for stream in terminal_streams)
        for stream in terminal_streams:
            stream.close_given()
        if self._relay is not None:
            self._relay.finish()
        for copier in self._copy_threads:
            copier.join(LAST_OUTPUT_SECONDS)
        if pseudo_terminal.is_in_front(0):
            pseudo_terminal.type_ahead(0, unread)

    def give_up(self) -> None:
        """The program could not be started with us beside it: restore everything for starting it alone."""
        if self._relay is not None:
            attempt(self._relay.attach, False)
            attempt(self._relay.kill)
        if self._children_ignored:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        self.restore_signals()

    def _wait(self, program: Program) -> int:
        """Until the program has ended; pass on signals that reach only us, and stop when the program stops."""
        while True:
            status, stopped_by = program.poll()
            if status is not None:
                return status
            if stopped_by is not None:
                self._follow_stop(program, stopped_by)
            info = wait_for_signal()
            if info.si_signo == signal.SIGCHLD and (info.si_code or info.si_pid in self._helper_pids):
                self._check_children()
            elif info.si_pid != os.getpid() or info.is_from_kernel:
                self._pass_on(program, info)

    @property
    def _helper_pids(self) -> set[int]:
        """Our helper processes: a SIGCHLD sent by one of them means that it has something to report."""
        pids = {self._relay.pid if self._relay is not None else 0}
        return pids | {self._program.child if self._program is not None else 0}

    def _check_children(self) -> None:
        if self._relay is not None:
            self._relay.read_reports()
            if self._relay.is_dead():
                self._relays += 1
                self._relay = attempt(self._relay.replacement)[0] if self._relays < MAX_RELAYS else None
                if self._relay is None:
                    self._copy_without_relay()
        self._reap_orphans()

    def _copy_without_relay(self) -> None:
        """No process would read the pipes, and the program would block forever: copy them in threads."""
        from laststep.supervisor.pump import copy_stream

        for stream in self._streams:
            if stream.takes_input:  # the dead relay may have left the user's terminal raw
                pseudo_terminal.set_modes(0, pseudo_terminal.get_modes(stream.give))
            if stream.read >= 0 and stream.kind != "file":
                copier = threading.Thread(target=copy_stream, args=(stream,), daemon=True)
                _, problem = attempt(copier.start)
                if problem:
                    stream.close()
                else:
                    self._copy_threads.append(copier)

    def _reap_orphans(self) -> None:
        """As the first process of a container we inherit orphans: none may remain a zombie."""
        if os.getpid() != 1:
            return
        while True:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if found is None or found.si_pid in self._helper_pids:
                return
            os.waitpid(found.si_pid, os.WNOHANG)

    def _follow_stop(self, program: Program, number: int) -> None:
        """The program was stopped: lend it the terminal if it needs it and we have it, else stop as well."""
        at_terminal = program.has_session and pseudo_terminal.is_in_front(0)
        if at_terminal and number in (signal.SIGTTIN, signal.SIGTTOU):
            self._follow_foreground(program)
            program.send(signal.SIGCONT, to_group=True)
        elif number != signal.SIGSTOP or (at_terminal and program.has_monitor):
            if self._relay is not None:
                self._relay.stopping(program.pid)
            stop_by(number)  # until we are continued; then SIGCONT is pending and is passed on
            if self._relay is not None:
                self._relay.running()

    def _follow_foreground(self, program: Program) -> None:
        """Our job entered or left the terminal's foreground: move the program in its own terminal likewise."""
        in_front = pseudo_terminal.is_in_front(0)
        if self._relay is not None:
            self._relay.attach(in_front)
        program.move(to_front=in_front)

    def _pass_on(self, program: Program, info: SignalInfo) -> None:
        number = info.si_signo
        from_relay = self._relay is not None and info.si_pid == self._relay.pid
        if self._relay is not None and not from_relay:
            to_group = self._relay.was_sent_to_group(number)
        else:
            to_group = info.is_from_kernel
        if number not in UNRECORDED_SIGNALS:
            self._record_signal(info, to_group)
        if number == signal.SIGCONT and program.has_session:
            self._follow_foreground(program)
        if from_relay or self._was_received(program, info, to_group):
            return
        program.send(number, to_group)

    @staticmethod
    def _was_received(program: Program, info: SignalInfo, to_group: bool) -> bool:
        """Whether the program received this signal, too."""
        if info.is_from_kernel and info.si_signo in (signal.SIGWINCH, signal.SIGXCPU):
            return True  # from its own terminal; about our own CPU time
        if not program.has_session:
            return to_group
        hung_up = info.is_from_kernel and info.si_signo in (signal.SIGHUP, signal.SIGCONT)
        return hung_up and not program.has_monitor  # it leads a session as we do, so its terminal is hung up, too

    def _record_signal(self, info: SignalInfo, to_group: bool) -> None:
        from laststep.supervisor import host

        sender = None if info.is_from_kernel else {"pid": info.si_pid, "name": host.who(info.si_pid)}
        by = "terminal" if info.is_from_kernel else "process"
        self._journal.write(
            "signal", {"signal": signal_name(info.si_signo), "by": by, "sender": sender, "to_group": to_group}
        )


def check_process_limit() -> None:
    """If the limit is low, our processes would be those that the program then cannot have."""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    if 0 <= limit < MIN_PROCESS_LIMIT and os.geteuid() != 0:
        raise OSError(errno.EAGAIN, f"only {limit} processes are allowed here")


def open_journal(folder: Path) -> JournalWriter:
    """The supervisor's journal. The folder is locked while it records, so that others see that the run is active."""
    held, _ = attempt(folders.hold, folder)  # fails without file locks, or if the folder is gone
    return JournalWriter(folder / folders.SUPERVISOR_JOURNAL, "supervisor", held=-1 if held is None else held)


def working_directory() -> Path:
    try:
        return Path.cwd()
    except OSError:  # it was deleted
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
    similar, _ = attempt(similar_scripts, command)
    if similar:
        launch["similar"] = similar
    journal.write("run", signed(launch, began, Path(journal.path).parent), at=began)


def _options_from(settings: Settings) -> dict[str, str]:
    """Options for the recorder, from settings that differ from the defaults."""
    options = {"save": "1"} if settings.save_before_death else {}
    usual = settings.keep_last_batch == Settings().keep_last_batch
    return options if usual else options | {"keep": str(settings.keep_last_batch)}


def die_alike(code: int | None, number: int | None) -> int:
    """End as the program ended, with the same code or signal, so that our own parent sees the same."""
    if number is None:
        return code or 0
    die_of(number)
    return 128 + number  # not reached: the signal kills by default
