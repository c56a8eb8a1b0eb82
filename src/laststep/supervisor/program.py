"""Start the user's program with the signals, descriptors and job control that it would have had without us."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import signal
import struct
import termios
from dataclasses import dataclass, field
from typing import NoReturn

from laststep.supervisor.signals import CHANGED_BY_PYTHON, die_of, split_status
from laststep.supervisor.streams import close_all_but

PID = struct.Struct("i")
ANSWER_SECONDS = 1.0
NOT_WITH_US = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)  # alone the program may still be started
# What the monitor is asked for: who is in the foreground of the program's terminal.
PROGRAM_IN_FRONT, PROGRAM_BEHIND = signal.SIGUSR1, signal.SIGUSR2
DONE = 0  # in the monitor's reports; all other bytes are signals that stopped the program


@dataclass
class ProgramSetup:
    """What the program gets."""

    command: list[str]
    environ: dict[str, str]
    mask: set[signal.Signals | int] = field(default_factory=set)
    files: dict[int, int] = field(default_factory=dict)  # its descriptor → ours
    ignores_children: bool = False  # SIGCHLD was ignored on entry
    terminal: int = -1  # becomes its controlling terminal, in a session of its own
    is_job: bool = False  # of a shell with job control: it has a parent in its session, and can be stopped
    in_front: bool = True


class CannotExec(OSError):
    """The command itself can't be started: not found, not executable."""


class Program:
    """The running program. Our child is the program itself, or, where it is a shell's job, its monitor."""

    def __init__(self, start: ProgramSetup) -> None:
        self.has_session = start.terminal >= 0
        self.has_monitor = self.has_session and start.is_job
        self._reports, report = os.pipe()
        trouble, tell = os.pipe()
        self.child = os.fork()  # not posix_spawn: that one can't ignore a signal, or give a terminal
        if self.child == 0:
            _run_child(start, report if self.has_monitor else -1, tell)
        os.close(report)
        os.close(tell)
        self.pid = self.child if not self.has_monitor else _read_pid(self._reports)
        said = os.read(trouble, PID.size)
        os.close(trouble)
        if said or not self.pid:
            os.waitpid(self.child, 0)
            number = PID.unpack(said)[0] if len(said) == PID.size else errno.EAGAIN
            raise (OSError if number in NOT_WITH_US else CannotExec)(number, os.strerror(number))
        os.set_blocking(self._reports, False)
        self._stops: list[int] = []

    def poll(self) -> tuple[int | None, int | None]:
        """(its status when it has ended, None), (None, the signal that stopped it) or (None, None)."""
        pid, status = os.waitpid(self.child, os.WNOHANG | os.WUNTRACED)
        if pid and not os.WIFSTOPPED(status):
            return status, None
        if pid and not self.has_monitor:
            return None, os.WSTOPSIG(status)
        self._hear()
        return None, self._stops.pop(0) if self._stops else None

    def _hear(self) -> bool:
        """Read the monitor's reports; whether it has done what it was asked for."""
        try:
            said = os.read(self._reports, 4096)
        except OSError:
            return False
        self._stops += [byte for byte in said if byte != DONE]
        return DONE in said or not said

    def send(self, number: int, to_group: bool = False) -> None:
        try:
            os.killpg(os.getpgid(self.pid), number) if to_group else os.kill(self.pid, number)
        except OSError:  # dead already, or no longer ours to signal
            pass

    def move(self, to_front: bool) -> None:
        """Into the foreground of its terminal or out of it; there, reading stops it, as it does in any shell."""
        if not self.has_monitor:
            return
        os.kill(self.child, PROGRAM_IN_FRONT if to_front else PROGRAM_BEHIND)
        while select.select([self._reports], [], [], ANSWER_SECONDS)[0] and not self._hear():
            pass


def _read_pid(reports: int) -> int:
    said = os.read(reports, PID.size)
    return int(PID.unpack(said)[0]) if len(said) == PID.size else 0


def _run_child(start: ProgramSetup, report: int, trouble: int) -> NoReturn:
    try:
        if start.terminal >= 0:
            os.setsid()
            fcntl.ioctl(start.terminal, termios.TIOCSCTTY, 0)
        if report >= 0:
            _Monitor(start, report, trouble).run()
        _become(start)
    except CannotExec as error:
        os.write(trouble, PID.pack(error.errno or errno.EIO))
    except BaseException:  # noqa: BLE001 - a forked copy of the supervisor must never run on as the supervisor
        os.write(trouble, PID.pack(errno.EAGAIN))
    finally:
        os._exit(127)
    raise AssertionError


def _become(start: ProgramSetup) -> None:
    for fd, ours in start.files.items():
        os.dup2(ours, fd)
    for number in CHANGED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if start.ignores_children:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, start.mask)
    try:
        os.execvpe(start.command[0], start.command, start.environ)
    except OSError as error:
        raise CannotExec(*error.args) from error


class _Monitor:
    """The leader of the program's session and its parent, as a shell would be: it waits, and ends as the program does.

    Without a parent in its session the kernel takes a program for an orphan, and Ctrl-Z does nothing.
    """

    def __init__(self, start: ProgramSetup, report: int, trouble: int) -> None:
        self._supervisor = os.getppid()
        self._terminal = start.terminal
        self._report = report
        self.pid = os.fork()
        if self.pid == 0:
            os.setpgid(0, 0)
            if start.in_front:
                os.tcsetpgrp(start.terminal, os.getpid())
            _become(start)
        self._front = self.pid
        os.write(report, PID.pack(self.pid))
        close_all_but(self._terminal, report)

    def run(self) -> NoReturn:
        signal.signal(PROGRAM_IN_FRONT, lambda *_: self._move(to_front=True))
        signal.signal(PROGRAM_BEHIND, lambda *_: self._move(to_front=False))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [PROGRAM_IN_FRONT, PROGRAM_BEHIND])
        while True:
            _, status = os.waitpid(self.pid, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                break
            self._tell(os.WSTOPSIG(status))
            if os.getppid() == self._supervisor:
                os.kill(self._supervisor, signal.SIGCHLD)
        self._move(to_front=False)  # what is left of the program's group is not hung up with us
        code, number = split_status(status)
        if number is not None:
            die_of(number)
        os._exit(code if code is not None else 1)

    def _move(self, to_front: bool) -> None:
        try:
            if not to_front:
                self._front = os.tcgetpgrp(self._terminal)
            os.tcsetpgrp(self._terminal, self._front if to_front else os.getpgrp())
        except OSError:  # the terminal is gone
            pass
        self._tell(DONE)

    def _tell(self, byte: int) -> None:
        try:
            os.write(self._report, bytes([byte]))
        except OSError:  # the supervisor is gone
            pass
