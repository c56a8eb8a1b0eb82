"""A small process that passes the program's output on, byte for byte, and keeps the last part of it."""

from __future__ import annotations

import os
import select
import signal
import struct
import time
from pathlib import Path

from laststep.supervisor.signals import SYNCHRONOUS_SIGNALS, is_pending
from laststep.supervisor.streams import Stream

# Commands of the supervisor to the relay …
ATTACH, DETACH, STOPPING, RUNNING, FINISH = b"a", b"b", b"s", b"r", b"f"
PID = struct.Struct("q")
# … and its reports, in bytes that are no signal numbers.
DONE, CLOSED = 200, 201  # 202 for the second stream
COMM_FILE = "/proc/self/comm"
GROUP_SECONDS = 0.01  # a signal to the group reaches its members one after the other
UNKNOWN_SECONDS = 0.05  # the same if the system does not show pending signals
REPLY_SECONDS = 1.0


class Relay:
    """The supervisor's handle on the relay process.

    The relay is in our process group: a signal that it receives, too, was sent to the whole group. The supervisor also
    keeps the program's outputs open, so that nothing is lost if a relay dies: the next one takes over.
    """

    def __init__(self, streams: list[Stream], console: Path, attached: bool = False) -> None:
        from laststep.supervisor.pump import relay_until_end  # before the fork: later, other threads may be importing

        self._streams, self._console = streams, console
        self.attached = attached
        self._seen: set[int] = set()
        self._reports, report = os.pipe()
        commands, self._commands = os.pipe()
        try:
            self.pid = os.fork()
        except OSError:
            for fd in (self._reports, report, commands, self._commands):
                os.close(fd)
            raise
        if self.pid == 0:
            os.close(self._reports)
            os.close(self._commands)
            relay_until_end(streams, console, commands, report, attached)
        os.close(commands)
        os.close(report)
        os.set_blocking(self._reports, False)

    def replacement(self) -> Relay:
        """A new relay in place of one that died."""
        os.close(self._reports)
        os.close(self._commands)
        return Relay(self._streams, self._console, self.attached)

    def is_dead(self) -> bool:
        try:
            return os.waitpid(self.pid, os.WNOHANG)[0] != 0
        except ChildProcessError:
            return True

    def read_reports(self) -> bool:
        """Process the relay's reports; returns whether it has executed the last command."""
        try:
            received = os.read(self._reports, 65536)
        except OSError:
            return False
        for number, stream in enumerate(self._streams):
            if CLOSED + number in received:
                stream.close()
        self._seen |= {byte for byte in received if byte < DONE}
        return DONE in received or not received

    def was_sent_to_group(self, number: int) -> bool:
        """Whether the relay received this signal, too: then it was sent to the whole group, including the program."""
        began = time.monotonic()
        while True:
            pending = is_pending(self.pid, number)  # pending first; once handled, it is reported
            self.read_reports()
            patience = REPLY_SECONDS if pending else GROUP_SECONDS if pending is False else UNKNOWN_SECONDS
            left = began + patience - time.monotonic()
            if number in self._seen or left <= 0 or (pending and number in SYNCHRONOUS_SIGNALS):
                break
            select.select([self._reports], [], [], min(left, 0.002))
        seen = number in self._seen or bool(pending)
        self._seen.discard(number)
        return seen

    def attach(self, on: bool) -> None:
        """Lend the user's terminal to the program, or take it back."""
        self.attached = on
        self._send_command(ATTACH if on else DETACH)

    def stopping(self, program: int) -> None:
        """We are about to stop, as the program did: take the terminal back, and wake us when the program continues."""
        self.attached = False
        self._send_command(STOPPING + PID.pack(program))

    def running(self) -> None:
        self._send_command(RUNNING)

    def finish(self) -> None:
        """Wait until all of the program's output has been passed on; a child of the program may go on writing."""
        self._send_command(FINISH, timeout=5.0)
        os.close(self._commands)
        for stream in self._streams:
            stream.close()

    def _send_command(self, command: bytes, timeout: float = REPLY_SECONDS) -> None:
        try:
            os.write(self._commands, command)
        except OSError:  # the relay died, and will be replaced
            return
        while select.select([self._reports], [], [], timeout)[0] and not self.read_reports():
            pass

    def kill(self) -> None:
        """Before any output: the program runs without us."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
