"""Python's and IPython's tracebacks, whole or cut → exception events."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

from laststep.logs.lines import Line
from laststep.record.event import Event
from laststep.record.untyped import untyped
from laststep.recorder.frames import users_line

CUT_OFF = "an error that the log cuts off"
MOST_LINES = 400  # of one message; TensorFlow puts the point at the end, after pages of stack
_BEGINS = re.compile(
    r"^(?P<indent>\s*)Traceback \(most recent call last\)|"
    r"^(?P<margin>\s*)(?P<ipython>\w+?(?:Error|Exception|Interrupt|Iteration|Exit)|\w+(?= {6,}))\s*"
    r"Traceback \(most recent"
)
_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>\S+))?')
_CELL = re.compile(
    r"^(?:File )?(?P<file><ipython-input-[^>]+>|(?:[A-Za-z]:)?[^\s:()]+\.pyc?|Input In \[\d+\]|Cell In\[\d+\])"
    r"(?::(?P<line>\d+)|, line (?P<nth>\d+))?(?:,? in (?P<function>[^\s(]+)|$)"
)
_ARROW = re.compile(r"^-+> ?(?P<line>\d+)\s(?P<text>.*)")
# An exception that ends a thread, or that Python meets when it cleans up, does not end the program.
_BESIDE = re.compile(
    r"^\s*Exception in thread (?P<name>[^\s:]+)|^\s*Exception ignored in|^Error in atexit\._run_exitfuncs|"
    r"^Error in sys\.excepthook"
)
# TensorFlow 1's queues: the error of a thread, which ends the session.
_COORDINATOR = re.compile(r"^.*Error reported to Coordinator: <class '([\w.]+)'>, ")
_HOOK = re.compile(r"^(?:\w+\.)*on_(?:epoch|(?:train_|test_|predict_)?batch|train|test|predict)_(?:begin|end)$")
# The class of an error is written in one word that ends so; `Error: 0.12` is a metric.
_ERROR = re.compile(
    r"^(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*?(?:Error|Exception|Interrupt|StopIteration|SystemExit|Iteration|"
    r"Timeout)\w*|"
    r"[a-z_]+(?:\.\w+)*\.(?:error|timeout|herror|gaierror)|[A-Za-z_][\w.]*\.[A-Z]\w*)"
    r"(?: \(see above for traceback\))?(?:: ?(?P<message>.*))?$"
)
_NOT_ONE = re.compile(
    r"^(?:\w*Warning|Mean\w*Error|(?:Root)?Mean\w*|\w*Metric)\b|^[\w.]+: [-+]?\d[-+\d.eE]*(?:,|\s?%|\s?\(|$)"
)
_SPEAKS_ALONE = ("KeyboardInterrupt", "AssertionError", "MemoryError", "RecursionError", "NotImplementedError")
_CHAINED = re.compile(r"^(?:During handling of the above exception|The above exception was the direct cause)")
# What ends a message: another program's line, the next epoch, a shell's prompt, a batch system's page.
_NOT_MESSAGE = re.compile(
    r"^(?:\d{4}-\d\d-\d\d[ T]\d\d:\d\d|[IWEF]\d{4} \d\d:|Epoch \d+/|\s*\d+/\d+ [\[━]|WARNING:|INFO:|DEBUG:|"
    r"-{40,}$|={40,}$|"
    r"Sender: LSF|slurmstepd|srun:|\[?(?:\([\w.-]+\) ?)?[\w.-]+@[\w.-]+|PS [A-Z]:|Process finished|wandb:|\S+@\S+[:$#]|"
    r"(?:Exception ignored in|Terminated|Killed|Aborted|Segmentation fault)\b|\s*\d+%\|)"
)


class Tracebacks:
    """Fed line by line; hands out an exception when its message is complete."""

    def __init__(self) -> None:
        self._frames: list[dict[str, Any]] | None = None  # of the traceback that is open
        self._error: dict[str, Any] | None = None  # whose message is being read
        self._message: list[str] = []
        self._began = 0
        self._error_line = 0
        self._indent = ""
        self._cell: dict[str, Any] | None = None
        self._announced = ""  # IPython names the class above the stack
        self._thread = self._next_thread = ""
        self._earlier: list[dict[str, str]] = []
        self._chained = False

    def take(self, line: Line) -> Iterator[Event]:
        thread = _BESIDE.match(line.text)
        if thread:
            self._next_thread = thread["name"] or "the interpreter's end"
        text = line.text.removeprefix(self._indent) if self.is_open else line.text
        begins = _BEGINS.match(text)
        if begins and not (self._error and begins["indent"]):  # an indented one is inside a message
            yield from self._close()
            self._frames, self._cell = [], None
            self._indent = begins["indent"] or begins["margin"] or ""
            self._announced = begins["ipython"] or ""
            self._thread, self._next_thread = self._next_thread, ""
            if not self._chained:
                self._began = line.number
            return
        if self._error is not None:
            if self._goes_on(text):
                self._message.append(text)
                return
            self._chained = bool(_CHAINED.match(text))
            yield from self._close()
        if self._frames is not None and self._is_frame(text):
            return
        if self._frames is None and self._error is None and _FRAME.match(text):
            self._frames, self._indent, self._announced, self._began = [], "", "", line.number  # its head was cut off
            self._is_frame(text)
            return
        stripped = text if self._frames is not None else text.strip()
        stripped = _COORDINATOR.sub(r"\1: ", stripped)
        found = _ERROR.match(stripped)
        if found and (self._frames is not None or self._is_error(found, stripped)):
            self._open(found, line)

    def end(self) -> Iterator[Event]:
        """The log ends here, perhaps in the middle of a traceback: then what is known of the error counts."""
        if self._error is None and (self._frames or (self._frames is not None and self._announced)):
            self._error = {"type": self._announced or CUT_OFF}
            self._message = [""]
            if self._earlier and not self._announced:
                last = self._earlier.pop()
                self._error, self._message = {"type": last["type"]}, [last["message"]]
        self._chained = False
        yield from self._close()

    @property
    def is_open(self) -> bool:
        """Whether the lines now belong to a traceback or its message."""
        return self._frames is not None or self._error is not None

    @property
    def in_message(self) -> bool:
        return self._error is not None

    def _is_error(self, found: re.Match[str], text: str) -> bool:
        """Without a traceback above: only a class that says what it is."""
        if _NOT_ONE.match(text) or (found["message"] is None and text not in _SPEAKS_ALONE):
            return False
        return bool(re.search(r"(?:Error|Exception|Interrupt)$", found["type"]))

    def _goes_on(self, text: str) -> bool:
        if len(self._message) >= MOST_LINES or _CHAINED.match(text) or _NOT_MESSAGE.match(text):
            return False
        found = _ERROR.match(text)
        return not (found and found["message"] is not None and self._is_error(found, text)) or text.startswith(" ")

    def _is_frame(self, text: str) -> bool:
        assert self._frames is not None
        frame = _FRAME.match(text)
        if frame:
            self._frames.append(_described(frame["file"], int(frame["line"]), frame["function"]))
            return True
        cell = _CELL.match(text)
        if cell:
            number = cell["line"] or cell["nth"]
            self._cell = _described(cell["file"], int(number or 0), cell["function"])
            self._frames.append(self._cell)
            return True
        arrow = _ARROW.match(text)
        if arrow and self._cell is not None:
            self._cell.update(line=int(arrow["line"]), text=arrow["text"].strip()[:200])
            return True
        if self._frames and text.startswith("    ") and "text" not in self._frames[-1] and "^" not in text:
            self._frames[-1]["text"] = text.strip()[:200]
        return text.startswith((" ", "\t")) or not text

    def _open(self, found: re.Match[str], line: Line) -> None:
        self._chained = False
        self._error_line = line.number
        self._error = {"type": found["type"]}
        self._message = [found["message"] or ""]
        if self._frames is None:
            self._began = line.number

    def _close(self) -> Iterator[Event]:
        frames, self._frames = self._frames or [], None
        if self._error is None:
            return
        message = "\n".join(self._message).rstrip()
        kind = str(self._error["type"])
        if self._chained:  # this one is the reason of the next
            self._earlier.append({"type": kind.rsplit(".", 1)[-1], "message": message[:500]})
        data = {
            "left": "program",
            "type": kind,
            "bases": [kind.rsplit(".", 1)[-1]],
            "message": message,
            "frames": frames,
            "where": _place_in(message) or users_line(reversed(frames)),
            "at_line": self._error_line or self._began,
        }
        if self._thread:
            data |= {"left": "thread", "thread": self._thread}
        callback = _callback_in(frames)
        if callback is not None:
            data["callback"] = callback
        if self._earlier and not self._chained:
            data["because_of"], self._earlier = self._earlier[-3:], []
        self._error, self._message = None, []
        if not self._chained:
            yield untyped(float(self._began), "exception", data, "log")


def _described(file: str, line: int, function: str | None) -> dict[str, Any]:
    return {"file": file, "line": line, "function": function or ""}


def _callback_in(frames: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Keras's list of callbacks calls a hook: the next frame is in the callback."""
    for caller, frame in itertools.pairwise(frames):
        own = "keras" in caller["file"] and "keras" not in frame["file"]
        listed = "callback" in caller["file"] and _HOOK.match(str(caller["function"]))
        if (own or listed) and _HOOK.match(str(frame["function"])):
            hook = str(frame["function"]).rsplit(".", 1)[-1]
            name = str(frame["function"]).rpartition(".")[0] or "a callback"
            users = users_line([frame]) is not None
            return {"class": name, "hook": hook, "users": users, "raised_at": {k: frame[k] for k in ("file", "line")}}
    return None


def _place_in(message: str) -> Any:
    """The user's line, where TensorFlow writes the stack into the message."""
    frames = [
        _described(m["file"], int(m["line"]), m["function"]) for m in map(_FRAME.match, message.splitlines()) if m
    ]
    return users_line(reversed(frames))
