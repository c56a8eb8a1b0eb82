"""Inside the relay process: pass on what is written and typed, until the last writer is gone."""

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
from laststep.supervisor.signals import ALL, BY_ITSELF, is_stopped
from laststep.supervisor.streams import Stream, close_all_but

CHUNK = 65536
TYPED_CHUNK = 4096  # where a key may be waiting: Ctrl-C is not behind a long output
QUIET_SECONDS = 0.15  # after the program's death: how long its output must be silent to be called complete
FOLLOW_SECONDS = 1.0
WATCH_SECONDS = 0.1  # while the supervisor is stopped: how often to see whether the program goes on


def relay_until_end(streams: list[Stream], console: Path, asked: int, tell: int, attached: bool) -> NoReturn:
    """It never returns, and never dies of a signal that is meant for the program."""
    status = 0
    try:
        supervisor = os.getppid()
        close_all_but(0, 1, 2, asked, tell, *(stream.read for stream in streams if stream.read >= 0))
        os.set_blocking(tell, False)
        for number in ALL - BY_ITSELF:
            signal.signal(number, lambda *_: None)
        signal.signal(signal.SIGWINCH, lambda *_: _resize(streams))
        signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
        _rename()
        signal.pthread_sigmask(signal.SIG_SETMASK, BY_ITSELF)
        _Pump(streams, ConsoleWriter(console), asked, tell, supervisor, attached).run()
    except BaseException:  # noqa: BLE001 - a forked copy of the supervisor must never run on as the supervisor
        status = 1
    finally:
        os._exit(status)
    raise AssertionError


def copy_plainly(stream: Stream) -> None:
    """Where no relay can be had any more, in a thread of the supervisor: nothing is kept, and the program goes on."""
    while True:
        try:
            chunk = os.read(stream.read, CHUNK)
        except BlockingIOError:
            select.select([stream.read], [], [])
            continue
        except OSError:  # the last writer closed the terminal
            break
        if not chunk or not _write_all(stream.out, chunk):
            break
    stream.close()


def _rename() -> None:
    """Another name than the supervisor's: `killall laststep` is for that one, and through it for the program."""
    try:
        with open(relay.COMM, "w") as comm:
            comm.write("output-relay")
    except OSError:
        pass


def _resize(streams: list[Stream]) -> None:
    for stream in streams:
        if stream.kind == "terminal" and stream.read >= 0:
            copy_size(stream.out, stream.read)


class _Pump:
    def __init__(
        self, streams: list[Stream], console: ConsoleWriter, asked: int, tell: int, supervisor: int, attached: bool
    ) -> None:
        self._streams = streams
        self._live = {stream.read: stream for stream in streams if stream.kind in ("terminal", "pipe")}
        self._live.pop(-1, None)
        self._files = [stream for stream in streams if stream.kind == "file" and stream.read >= 0]
        self._console = console
        self._asked: int | None = asked
        self._tell, self._supervisor = tell, supervisor
        self._is_finishing = False
        self._watched = 0  # the program, while the supervisor is stopped as it is
        self._keys = next((stream for stream in self._live.values() if stream.takes_input), None)
        self._typed = b""  # that the program's terminal has no room for yet
        self._attachment: Attachment | None = None
        if self._keys is not None:
            os.set_blocking(self._keys.read, False)
            self._attachment = Attachment(0, self._keys.read, attached)

    def run(self) -> None:
        while self._live or self._asked is not None:
            ready, room, _ = select.select(self._sources(), self._waiting_for_room(), [], self._patience())
            for fd in ready:
                if fd == self._asked:
                    self._obey()
                elif fd == 0:
                    self._type(self._read_keys())
                elif fd in self._live:
                    self._pass_on(fd)
            if room:
                self._type(b"")
            self._follow_files()
            self._watch_program()
            if self._is_finishing and not any(fd in self._live for fd in ready):
                self._finish()

    def _sources(self) -> list[int]:
        keys = [0] if self._takes_keys and not self._typed else []
        return [*self._live, *([self._asked] if self._asked is not None else []), *keys]

    @property
    def _takes_keys(self) -> bool:
        return self._keys is not None and self._attachment is not None and self._attachment.is_on

    def _waiting_for_room(self) -> list[int]:
        return [self._keys.read] if self._typed and self._keys is not None else []

    def _patience(self) -> float | None:
        if self._is_finishing:
            return QUIET_SECONDS if self._live else 0
        if self._watched:
            return WATCH_SECONDS
        return FOLLOW_SECONDS if self._files else None

    def _obey(self) -> None:
        word = os.read(self._asked, 1) if self._asked is not None else b""
        if word == relay.FINISH:
            self._is_finishing = True
            return
        if word == relay.ATTACH and self._attachment is not None:
            with _StopSignalsBlocked():
                self._attachment.attach()
        elif word in (relay.DETACH, relay.STOPPING, b""):
            self._detach()
        if word == relay.STOPPING and self._asked is not None:
            self._watched = relay.PID.unpack(os.read(self._asked, relay.PID.size))[0]
        elif word == relay.RUNNING:
            self._watched = 0
        if word:
            self._say(relay.DONE)
        else:  # the supervisor is gone; what is written still arrives
            os.close(self._asked or 0)
            self._asked = None

    def _detach(self) -> None:
        if self._attachment is not None and self._attachment.is_on:
            self._drain()
            with _StopSignalsBlocked():
                self._attachment.detach()

    def _drain(self) -> None:
        """What was written before goes out in the modes that it was written for."""
        while self._keys is not None and select.select([self._keys.read], [], [], 0)[0]:
            self._pass_on(self._keys.read)

    def _finish(self) -> None:
        self._is_finishing = False
        self._detach()
        self._say(relay.DONE)

    def _say(self, byte: int) -> None:
        try:
            os.write(self._tell, bytes([byte]))
        except OSError:
            pass

    def _watch_program(self) -> None:
        """Until the supervisor says that it runs: a SIGCONT is lost that comes before the stop it is for."""
        if self._watched and not is_stopped(self._watched) and os.getppid() == self._supervisor:
            os.kill(self._supervisor, signal.SIGCONT)

    def _read_keys(self) -> bytes:
        """What was typed; nothing when another job has the terminal by now."""
        assert self._attachment is not None
        if not is_in_front(0):
            self._detach()
            return b""
        try:
            with _StopSignalsBlocked():
                typed = os.read(0, TYPED_CHUNK)
        except OSError:
            typed = b""
        if not typed and self._keys is not None:  # hung up: the program's terminal is, too
            self._close(self._keys.read)
        return typed

    def _type(self, typed: bytes) -> None:
        self._typed += typed
        if self._typed and self._keys is not None and self._keys.read >= 0:
            try:
                self._typed = self._typed[os.write(self._keys.read, self._typed) :]
            except BlockingIOError:
                pass
            except OSError:
                self._typed = b""

    def _pass_on(self, fd: int) -> None:
        stream = self._live[fd]
        try:
            chunk = os.read(fd, TYPED_CHUNK if self._takes_keys else CHUNK)
        except BlockingIOError:
            return
        except OSError as error:
            if error.errno == errno.EINTR:
                return
            chunk = b""  # EIO: the last writer closed the terminal
        if not chunk or not _write_all(stream.out, self._for_terminal(stream, chunk)):
            # At our end, or the reader is gone: closing lets the program see what it would have seen.
            self._close(fd)
            return
        self._console.write(chunk)

    def _for_terminal(self, stream: Stream, chunk: bytes) -> bytes:
        """The program's terminal has made line endings; the real one, where it is not lent, would make them again."""
        if not stream.takes_input or self._takes_keys:
            return chunk
        modes = get_modes(stream.out)
        makes_again = modes is not None and modes[1] & termios.OPOST and modes[1] & termios.ONLCR
        return chunk.replace(b"\r\n", b"\n") if makes_again else chunk

    def _close(self, fd: int) -> None:
        stream = self._live.pop(fd)
        if stream is self._keys and self._attachment is not None:
            with _StopSignalsBlocked():
                self._attachment.detach()
            self._keys = None
        stream.close()
        self._say(relay.CLOSED + self._streams.index(stream))
        if os.getppid() == self._supervisor:
            os.kill(self._supervisor, signal.SIGCHLD)

    def _follow_files(self) -> None:
        for stream in self._files:
            while True:
                try:
                    behind = os.fstat(stream.read).st_size - os.lseek(stream.read, 0, os.SEEK_CUR)
                    if behind > 2 * PIECE_BYTES:
                        os.lseek(stream.read, -PIECE_BYTES, os.SEEK_END)
                    chunk = os.read(stream.read, CHUNK)
                except OSError:
                    break
                if not chunk:
                    break
                self._console.write(chunk)


class _StopSignalsBlocked:
    """Within it, a terminal that belongs to another job stops nobody: it is written to, and not read."""

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
