"""A small process that passes the program's output on, byte for byte, and keeps the last part of it."""

from __future__ import annotations

import os
import select
import signal
import struct
import time
from pathlib import Path

from laststep.supervisor.signals import BY_ITSELF, is_pending
from laststep.supervisor.streams import Stream

# What the supervisor asks of the relay …
ATTACH, DETACH, STOPPING, RUNNING, FINISH = b"a", b"b", b"s", b"r", b"f"
PID = struct.Struct("q")
# … and what the relay tells it, in bytes that are no signal numbers.
DONE, CLOSED = 200, 201  # and 202 for the second stream
COMM = "/proc/self/comm"
GROUP_SECONDS = 0.01  # a signal for the group reaches its members one after the other
BLIND_SECONDS = 0.05  # the same where the system does not say what is on its way
LATE_SECONDS = 1.0


class Relay:
    """The supervisor's handle on the relay process.

    The relay is in our process group: a signal that it gets too was meant for the whole group. The supervisor
    keeps the program's outputs open as well, so that nothing is lost when a relay dies: the next one takes over.
    """

    def __init__(self, streams: list[Stream], console: Path, attached: bool = False) -> None:
        from laststep.supervisor.pump import relay_until_end  # before the fork: other threads may be importing later

        self._streams, self._console = streams, console
        self.attached = attached
        self._seen: set[int] = set()
        self._heard, tell = os.pipe()
        asked, self._ask = os.pipe()
        try:
            self.pid = os.fork()
        except OSError:
            for fd in (self._heard, tell, asked, self._ask):
                os.close(fd)
            raise
        if self.pid == 0:
            os.close(self._heard)
            os.close(self._ask)
            relay_until_end(streams, console, asked, tell, attached)
        os.close(asked)
        os.close(tell)
        os.set_blocking(self._heard, False)

    def again(self) -> Relay:
        """A new relay in the place of one that died."""
        os.close(self._heard)
        os.close(self._ask)
        return Relay(self._streams, self._console, self.attached)

    def is_dead(self) -> bool:
        try:
            return os.waitpid(self.pid, os.WNOHANG)[0] != 0
        except ChildProcessError:
            return True

    def hear(self) -> bool:
        """Take in what the relay tells; whether it has done what it was asked for."""
        try:
            said = os.read(self._heard, 65536)
        except OSError:
            return False
        for number, stream in enumerate(self._streams):
            if CLOSED + number in said:
                stream.close()
        self._seen |= {byte for byte in said if byte < DONE}
        return DONE in said or not said

    def reached_the_group(self, number: int) -> bool:
        """Whether this signal came to the relay too: then it was meant for the whole group, the program included."""
        began = time.monotonic()
        while True:
            pending = is_pending(self.pid, number)  # before it is handled; then it is heard of
            self.hear()
            patience = LATE_SECONDS if pending else GROUP_SECONDS if pending is False else BLIND_SECONDS
            left = began + patience - time.monotonic()
            if number in self._seen or left <= 0 or (pending and number in BY_ITSELF):
                break
            select.select([self._heard], [], [], min(left, 0.002))
        seen = number in self._seen or bool(pending)
        self._seen.discard(number)
        return seen

    def attach(self, on: bool) -> None:
        """Lend the user's terminal to the program, or give it back."""
        self.attached = on
        self._order(ATTACH if on else DETACH)

    def stopping(self, program: int) -> None:
        """We are about to stop, as the program did: give the terminal back, wake us when the program goes on."""
        self.attached = False
        self._order(STOPPING + PID.pack(program))

    def running(self) -> None:
        self._order(RUNNING)

    def finish(self) -> None:
        """Wait until all that the program wrote has been passed on; a child of its own may go on writing."""
        self._order(FINISH, within=5.0)
        os.close(self._ask)
        for stream in self._streams:
            stream.close()

    def _order(self, word: bytes, within: float = LATE_SECONDS) -> None:
        try:
            os.write(self._ask, word)
        except OSError:  # it died: the next one is on its way
            return
        while select.select([self._heard], [], [], within)[0] and not self.hear():
            pass

    def kill(self) -> None:
        """Before anything was written: the program runs without us."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
