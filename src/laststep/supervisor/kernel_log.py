"""The kernel log, if it is readable: lines about out-of-memory kills and faults since the run began."""

from __future__ import annotations

import os
import re

RELEVANT_LINE = re.compile(
    r"out of memory|oom-kill|oom_reaper|killed process|memory cgroup|segfault|general protection|trap |"
    r"invalid opcode|NVRM: Xid|i/o error|machine check",
    re.IGNORECASE,
)


class KernelLog:
    """Reads from the moment it is opened. `because` says why if it cannot be read."""

    def __init__(self, path: str = "/dev/kmsg") -> None:
        self.because: str | None = None
        self._fd = -1
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            os.lseek(self._fd, 0, os.SEEK_END)
        except OSError as error:
            self.because = f"the kernel's log can't be read here ({error.strerror})"

    def new_lines(self) -> list[str]:
        lines: list[str] = []
        while self._fd >= 0 and len(lines) < 200:
            try:
                record = os.read(self._fd, 8192)
            except BlockingIOError:
                break
            except BrokenPipeError:
                continue  # the log overran us: continue with what is there
            except OSError:
                break
            text = record.decode("utf-8", "replace").split(";", 1)[-1].split("\n")[0]
            if RELEVANT_LINE.search(text):
                lines.append(text[:500])
        return lines
