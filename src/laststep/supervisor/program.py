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
REPLY_SECONDS = 1.0
RESOURCE_ERRORS = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)  # without us the program may still start
# Requests to the monitor: who is in the foreground of the program's terminal.
PROGRAM_IN_FRONT, PROGRAM_BEHIND = signal.SIGUSR1, signal.SIGUSR2
DONE = 0  # in the monitor's reports; other bytes are signals that stopped the program


@dataclass
class ProgramSetup:
    """What the program is started with."""

    command: list[str]
    environ: dict[str, str]
    mask: set[signal.Signals | int] = field(default_factory=set)
    files: dict[int, int] = field(default_factory=dict)  # its descriptor → ours
    ignores_children: bool = False  # SIGCHLD was ignored when we started
    terminal: int = -1  # becomes the controlling terminal of its own session
    is_job: bool = False  # of a shell with job control: it gets a parent in its session, so that it can be stopped
    in_front: bool = True


class CannotExec(OSError):
    """The command cannot be executed: not found, or not executable."""


class Program:
    """The running program. Our child is the program itself or, if it is a shell's job, its monitor."""

    def __init__(self, setup: ProgramSetup) -> None:
        self.has_session = setup.terminal >= 0
        self.has_monitor = self.has_session and setup.is_job
        self._reports, report = os.pipe()
        errors, report_error = os.pipe()
        self.child = os.fork()  # not posix_spawn, which can neither ignore a signal nor set a terminal
        if self.child == 0:
            _run_child(setup, report if self.has_monitor else -1, report_error)
        os.close(report)
        os.close(report_error)
        self.pid = self.child if not self.has_monitor else _read_pid(self._reports)
        received = os.read(errors, PID.size)
        os.close(errors)
        if received or not self.pid:
            os.waitpid(self.child, 0)
            number = PID.unpack(received)[0] if len(received) == PID.size else errno.EAGAIN
            raise (OSError if number in RESOURCE_ERRORS else CannotExec)(number, os.strerror(number))
        os.set_blocking(self._reports, False)
        self._stops: list[int] = []

    def poll(self) -> tuple[int | None, int | None]:
        """(exit status, None) once it has ended, (None, the signal that stopped it) or (None, None)."""
        pid, status = os.waitpid(self.child, os.WNOHANG | os.WUNTRACED)
        if pid and not os.WIFSTOPPED(status):
            return status, None
        if pid and not self.has_monitor:
            return None, os.WSTOPSIG(status)
        self._read_reports()
        return None, self._stops.pop(0) if self._stops else None

    def _read_reports(self) -> bool:
        """Read the monitor's reports; returns whether it has done what was requested."""
        try:
            received = os.read(self._reports, 4096)
        except OSError:
            return False
        self._stops += [byte for byte in received if byte != DONE]
        return DONE in received or not received

    def send(self, number: int, to_group: bool = False) -> None:
        try:
            os.killpg(os.getpgid(self.pid), number) if to_group else os.kill(self.pid, number)
        except OSError:  # already dead, or not ours to signal any more
            pass

    def move(self, to_front: bool) -> None:
        """Into the foreground of its terminal or out of it, where reading stops it, as in any shell."""
        if not self.has_monitor:
            return
        os.kill(self.child, PROGRAM_IN_FRONT if to_front else PROGRAM_BEHIND)
        while select.select([self._reports], [], [], REPLY_SECONDS)[0] and not self._read_reports():
            pass


def _read_pid(reports: int) -> int:
    received = os.read(reports, PID.size)
    return int(PID.unpack(received)[0]) if len(received) == PID.size else 0


def _run_child(setup: ProgramSetup, report: int, errors: int) -> NoReturn:
    try:
        if setup.terminal >= 0:
            os.setsid()
            fcntl.ioctl(setup.terminal, termios.TIOCSCTTY, 0)
        if report >= 0:
            _Monitor(setup, report, errors).run()
        _exec_program(setup)
    except CannotExec as error:
        os.write(errors, PID.pack(error.errno or errno.EIO))
    except BaseException:  # noqa: BLE001 - a forked copy of the supervisor must never continue as the supervisor
        os.write(errors, PID.pack(errno.EAGAIN))
    finally:
        os._exit(127)
    raise AssertionError


def _exec_program(setup: ProgramSetup) -> None:
    for fd, ours in setup.files.items():
        os.dup2(ours, fd)
    for number in CHANGED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if setup.ignores_children:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, setup.mask)
    try:
        os.execvpe(setup.command[0], setup.command, setup.environ)
    except OSError as error:
        raise CannotExec(*error.args) from error


class _Monitor:
    """The leader of the program's session and its parent, like a shell: it waits and ends as the program does.

    A program without a parent in its session is an orphaned process group to the kernel, and Ctrl-Z has no effect.
    """

    def __init__(self, setup: ProgramSetup, report: int, errors: int) -> None:
        self._supervisor = os.getppid()
        self._terminal = setup.terminal
        self._report = report
        self.pid = os.fork()
        if self.pid == 0:
            os.setpgid(0, 0)
            if setup.in_front:
                os.tcsetpgrp(setup.terminal, os.getpid())
            _exec_program(setup)
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
            self._send(os.WSTOPSIG(status))
            if os.getppid() == self._supervisor:
                os.kill(self._supervisor, signal.SIGCHLD)
        self._move(to_front=False)  # so that the rest of the program's group is not hung up with us
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
        self._send(DONE)

    def _send(self, byte: int) -> None:
        try:
            os.write(self._report, bytes([byte]))
        except OSError:  # the supervisor is gone
            pass
