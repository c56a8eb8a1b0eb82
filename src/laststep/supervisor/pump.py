"""Inside the relay process: pass output and keyboard input on until the last writer is gone."""

from __future__ import annotations

import errno
import os
import select
import signal
import termios
from pathlib import Path
from typing import NoReturn

from laststep.record.console import PIECE_BYTES, ConsoleWriter
from laststep.supervisor import relay
from laststep.supervisor.pseudo_terminal import Attachment, copy_size, get_modes, is_in_front
from laststep.supervisor.signals import CATCHABLE_SIGNALS, SYNCHRONOUS_SIGNALS, is_stopped
from laststep.supervisor.streams import Stream, close_all_but

CHUNK_BYTES = 65536
INTERACTIVE_CHUNK_BYTES = 4096  # while keys may be waiting, so that Ctrl-C is not delayed by long output
QUIET_SECONDS = 0.15  # after the program's death: its output is complete once it has been silent for so long
FOLLOW_SECONDS = 1.0
WATCH_SECONDS = 0.1  # while the supervisor is stopped: how often to check whether the program continues


def relay_until_end(streams: list[Stream], console: Path, commands: int, reports: int, attached: bool) -> NoReturn:
    """Never returns, and never dies of a signal meant for the program."""
    status = 0
    try:
        supervisor = os.getppid()
        close_all_but(0, 1, 2, commands, reports, *(stream.read for stream in streams if stream.read >= 0))
        os.set_blocking(reports, False)
        for number in CATCHABLE_SIGNALS - SYNCHRONOUS_SIGNALS:
            signal.signal(number, lambda *_: None)
        signal.signal(signal.SIGWINCH, lambda *_: _resize(streams))
        signal.set_wakeup_fd(reports, warn_on_full_buffer=False)
        _rename()
        signal.pthread_sigmask(signal.SIG_SETMASK, SYNCHRONOUS_SIGNALS)
        _Pump(streams, ConsoleWriter(console), commands, reports, supervisor, attached).run()
    except BaseException:  # noqa: BLE001 - a forked copy of the supervisor must never continue as the supervisor
        status = 1
    finally:
        os._exit(status)
    raise AssertionError


def copy_stream(stream: Stream) -> None:
    """In a thread of the supervisor if no relay can be started: nothing is kept, but the program goes on."""
    while True:
        try:
            chunk = os.read(stream.read, CHUNK_BYTES)
        except BlockingIOError:
            select.select([stream.read], [], [])
            continue
        except OSError:  # the last writer closed the terminal
            break
        if not chunk or not _write_all(stream.out, chunk):
            break
    stream.close()


def _rename() -> None:
    """Not the supervisor's name: `killall laststep` is meant for the supervisor, and through it for the program."""
    try:
        with open(relay.COMM_FILE, "w") as comm:
            comm.write("output-relay")
    except OSError:
        pass


def _resize(streams: list[Stream]) -> None:
    for stream in streams:
        if stream.kind == "terminal" and stream.read >= 0:
            copy_size(stream.out, stream.read)


class _Pump:
    """Copies output and keyboard input, and executes the supervisor's commands."""

    def __init__(
        self,
        streams: list[Stream],
        console: ConsoleWriter,
        commands: int,
        reports: int,
        supervisor: int,
        attached: bool,
    ) -> None:
        self._streams = streams
        self._streams_by_fd = {stream.read: stream for stream in streams if stream.kind in ("terminal", "pipe")}
        self._streams_by_fd.pop(-1, None)
        self._files = [stream for stream in streams if stream.kind == "file" and stream.read >= 0]
        self._console = console
        self._commands: int | None = commands
        self._reports, self._supervisor = reports, supervisor
        self._is_finishing = False
        self._watched_pid = 0  # the program, while the supervisor is stopped with it
        self._key_stream = next((stream for stream in self._streams_by_fd.values() if stream.takes_input), None)
        self._pending_input = b""  # input for which the program's terminal has no room yet
        self._attachment: Attachment | None = None
        if self._key_stream is not None:
            os.set_blocking(self._key_stream.read, False)
            self._attachment = Attachment(0, self._key_stream.read, attached)

    def run(self) -> None:
        while self._streams_by_fd or self._commands is not None:
            ready, writable, _ = select.select(self._sources(), self._sinks_to_wait_for(), [], self._timeout())
            for fd in ready:
                if fd == self._commands:
                    self._execute_command()
                elif fd == 0:
                    self._write_input(self._read_keys())
                elif fd in self._streams_by_fd:
                    self._pass_on(fd)
            if writable:
                self._write_input(b"")
            self._follow_files()
            self._wake_supervisor()
            if self._is_finishing and not any(fd in self._streams_by_fd for fd in ready):
                self._finish()

    def _sources(self) -> list[int]:
        keys = [0] if self._is_interactive and not self._pending_input else []
        return [*self._streams_by_fd, *([self._commands] if self._commands is not None else []), *keys]

    @property
    def _is_interactive(self) -> bool:
        return self._key_stream is not None and self._attachment is not None and self._attachment.is_on

    def _sinks_to_wait_for(self) -> list[int]:
        return [self._key_stream.read] if self._pending_input and self._key_stream is not None else []

    def _timeout(self) -> float | None:
        if self._is_finishing:
            return QUIET_SECONDS if self._streams_by_fd else 0
        if self._watched_pid:
            return WATCH_SECONDS
        return FOLLOW_SECONDS if self._files else None

    def _execute_command(self) -> None:
        command = os.read(self._commands, 1) if self._commands is not None else b""
        if command == relay.FINISH:
            self._is_finishing = True
            return
        if command == relay.ATTACH and self._attachment is not None:
            with _StopSignalsBlocked():
                self._attachment.attach()
        elif command in (relay.DETACH, relay.STOPPING, b""):
            self._detach()
        if command == relay.STOPPING and self._commands is not None:
            self._watched_pid = relay.PID.unpack(os.read(self._commands, relay.PID.size))[0]
        elif command == relay.RUNNING:
            self._watched_pid = 0
        if command:
            self._report(relay.DONE)
        else:  # the supervisor is gone; output is still passed on
            os.close(self._commands or 0)
            self._commands = None

    def _detach(self) -> None:
        if self._attachment is not None and self._attachment.is_on:
            self._drain()
            with _StopSignalsBlocked():
                self._attachment.detach()

    def _drain(self) -> None:
        """Write earlier output out in the terminal modes it was written for."""
        while self._key_stream is not None and select.select([self._key_stream.read], [], [], 0)[0]:
            self._pass_on(self._key_stream.read)

    def _finish(self) -> None:
        self._is_finishing = False
        self._detach()
        self._report(relay.DONE)

    def _report(self, byte: int) -> None:
        try:
            os.write(self._reports, bytes([byte]))
        except OSError:
            pass

    def _wake_supervisor(self) -> None:
        """Until the supervisor reports that it runs: a SIGCONT that arrives before the stop would be lost."""
        if self._watched_pid and not is_stopped(self._watched_pid) and os.getppid() == self._supervisor:
            os.kill(self._supervisor, signal.SIGCONT)

    def _read_keys(self) -> bytes:
        """Keyboard input; empty if another job has the terminal by now."""
        assert self._attachment is not None
        if not is_in_front(0):
            self._detach()
            return b""
        try:
            with _StopSignalsBlocked():
                typed = os.read(0, INTERACTIVE_CHUNK_BYTES)
        except OSError:
            typed = b""
        if not typed and self._key_stream is not None:  # hung up: so is the program's terminal
            self._close(self._key_stream.read)
        return typed

    def _write_input(self, typed: bytes) -> None:
        self._pending_input += typed
        if self._pending_input and self._key_stream is not None and self._key_stream.read >= 0:
            try:
                self._pending_input = self._pending_input[os.write(self._key_stream.read, self._pending_input) :]
            except BlockingIOError:
                pass
            except OSError:
                self._pending_input = b""

    def _pass_on(self, fd: int) -> None:
        stream = self._streams_by_fd[fd]
        try:
            chunk = os.read(fd, INTERACTIVE_CHUNK_BYTES if self._is_interactive else CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno == errno.EINTR:
                return
            chunk = b""  # EIO: the last writer closed the terminal
        if not chunk or not _write_all(stream.out, self._with_line_endings(stream, chunk)):
            # End of output, or the reader is gone: closing lets the program see what it would have seen without us.
            self._close(fd)
            return
        self._console.write(chunk)

    def _with_line_endings(self, stream: Stream, chunk: bytes) -> bytes:
        """The program's terminal has added \\r; the real one, unless it is lent, would add it again."""
        if not stream.takes_input or self._is_interactive:
            return chunk
        modes = get_modes(stream.out)
        adds_carriage_return = modes is not None and modes[1] & termios.OPOST and modes[1] & termios.ONLCR
        return chunk.replace(b"\r\n", b"\n") if adds_carriage_return else chunk

    def _close(self, fd: int) -> None:
        stream = self._streams_by_fd.pop(fd)
        if stream is self._key_stream and self._attachment is not None:
            with _StopSignalsBlocked():
                self._attachment.detach()
            self._key_stream = None
        stream.close()
        self._report(relay.CLOSED + self._streams.index(stream))
        if os.getppid() == self._supervisor:
            os.kill(self._supervisor, signal.SIGCHLD)

    def _follow_files(self) -> None:
        for stream in self._files:
            while True:
                try:
                    behind = os.fstat(stream.read).st_size - os.lseek(stream.read, 0, os.SEEK_CUR)
                    if behind > 2 * PIECE_BYTES:
                        os.lseek(stream.read, -PIECE_BYTES, os.SEEK_END)
                    chunk = os.read(stream.read, CHUNK_BYTES)
                except OSError:
                    break
                if not chunk:
                    break
                self._console.write(chunk)


class _StopSignalsBlocked:
    """Block the signals that stop a background job when it uses the terminal."""

    def __enter__(self) -> None:
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTIN, signal.SIGTTOU])

    def __exit__(self, *_: object) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)


def _write_all(fd: int, chunk: bytes) -> bool:
    view = memoryview(chunk)
    with _StopSignalsBlocked():
        while view:
            try:
                view = view[os.write(fd, view) :]
            except BlockingIOError:
                select.select([], [fd], [])
            except InterruptedError:
                continue
            except OSError:
                return False
    return True
