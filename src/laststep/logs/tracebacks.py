"""Python's and IPython's tracebacks, whole or cut → exception events."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Sequence

from laststep.logs.line_reader import LogLine
from laststep.record.events.logs import SOURCE
from laststep.record.events.process import ChainedException, Raised
from laststep.record.events.shared import CallbackFacts, Frame, users_line
from laststep.record.place import Place

CUT_OFF = "an error that the log cuts off"
MAX_MESSAGE_LINES = 400  # TensorFlow puts the essential part at the end, after pages of stack
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
# The class of an error is one word that ends like this; `Error: 0.12` is a metric.
_ERROR = re.compile(
    r"^(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*?(?:Error|Exception|Interrupt|StopIteration|SystemExit|Iteration|"
    r"Timeout)\w*|"
    r"[a-z_]+(?:\.\w+)*\.(?:error|timeout|herror|gaierror)|[A-Za-z_][\w.]*\.[A-Z]\w*)"
    r"(?: \(see above for traceback\))?(?:: ?(?P<message>.*))?$"
)
_NOT_ERROR = re.compile(
    r"^(?:\w*Warning|Mean\w*Error|(?:Root)?Mean\w*|\w*Metric)\b|^[\w.]+: [-+]?\d[-+\d.eE]*(?:,|\s?%|\s?\(|$)"
)
_WITHOUT_MESSAGE = ("KeyboardInterrupt", "AssertionError", "MemoryError", "RecursionError", "NotImplementedError")
_CHAINED = re.compile(r"^(?:During handling of the above exception|The above exception was the direct cause)")
# What ends a message: another program's line, the next epoch, a shell's prompt, a batch system's page.
_NOT_MESSAGE = re.compile(
    r"^(?:\d{4}-\d\d-\d\d[ T]\d\d:\d\d|[IWEF]\d{4} \d\d:|Epoch \d+/|\s*\d+/\d+ [\[━]|WARNING:|INFO:|DEBUG:|"
    r"-{40,}$|={40,}$|"
    r"Sender: LSF|slurmstepd|srun:|\[?(?:\([\w.-]+\) ?)?[\w.-]+@[\w.-]+|PS [A-Z]:|Process finished|wandb:|\S+@\S+[:$#]|"
    r"(?:Exception ignored in|Terminated|Killed|Aborted|Segmentation fault)\b|\s*\d+%\|)"
)


class Tracebacks:
    """Reads line by line; yields an exception when its message is complete."""

    def __init__(self) -> None:
        self._frames: list[Frame] | None = None  # of the traceback that is open
        self._error: str | None = None  # the type of the exception whose message is being read
        self._message: list[str] = []
        self._began = 0
        self._error_line = 0
        self._indent = ""
        self._cell: int | None = None  # the frame to which an arrow belongs
        self._announced = ""  # IPython names the class above the stack
        self._thread = self._next_thread = ""
        self._earlier: list[ChainedException] = []
        self._chained = False

    def take(self, line: LogLine) -> Iterator[Raised]:
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

    def end(self) -> Iterator[Raised]:
        """The log ends, perhaps in the middle of a traceback: then the exception is what is known of it."""
        if self._error is None and (self._frames or (self._frames is not None and self._announced)):
            self._error, self._message = self._announced or CUT_OFF, [""]
            if self._earlier and not self._announced:
                last = self._earlier.pop()
                self._error, self._message = last.type, [last.message]
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
        """Without a traceback above it: only a class whose name ends like that of an error."""
        if _NOT_ERROR.match(text) or (found["message"] is None and text not in _WITHOUT_MESSAGE):
            return False
        return bool(re.search(r"(?:Error|Exception|Interrupt)$", found["type"]))

    def _goes_on(self, text: str) -> bool:
        if len(self._message) >= MAX_MESSAGE_LINES or _CHAINED.match(text) or _NOT_MESSAGE.match(text):
            return False
        found = _ERROR.match(text)
        return not (found and found["message"] is not None and self._is_error(found, text)) or text.startswith(" ")

    def _is_frame(self, text: str) -> bool:
        assert self._frames is not None
        frame = _FRAME.match(text)
        if frame:
            self._frames.append(_frame(frame["file"], frame["line"], frame["function"]))
            return True
        cell = _CELL.match(text)
        if cell:
            self._cell = len(self._frames)
            self._frames.append(_frame(cell["file"], cell["line"] or cell["nth"], cell["function"]))
            return True
        arrow = _ARROW.match(text)
        if arrow and self._cell is not None:
            shown = dataclasses.replace(self._frames[self._cell], line=int(arrow["line"]), text=_source(arrow["text"]))
            self._frames[self._cell] = shown
            return True
        if self._frames and text.startswith("    ") and not self._frames[-1].text and "^" not in text:
            self._frames[-1] = dataclasses.replace(self._frames[-1], text=_source(text))
        return text.startswith((" ", "\t")) or not text

    def _open(self, found: re.Match[str], line: LogLine) -> None:
        self._chained = False
        self._error_line = line.number
        self._error, self._message = found["type"], [found["message"] or ""]
        if self._frames is None:
            self._began = line.number

    def _close(self) -> Iterator[Raised]:
        frames, self._frames = self._frames or [], None
        if self._error is None:
            return
        message, kind = "\n".join(self._message).rstrip(), self._error
        self._error, self._message = None, []
        if self._chained:  # it is the cause or the context of the next
            self._earlier.append(ChainedException(type=_short(kind), message=message[:500]))
            return
        earlier, self._earlier = self._earlier[-3:], []
        yield Raised(
            time=float(self._began),
            source=SOURCE,
            left="thread" if self._thread else "program",
            thread=self._thread,
            type=kind,
            bases=(_short(kind),),
            message=message,
            frames=tuple(frames),
            where=_place_in(message) or users_line(reversed(frames)),
            callback=_callback_in(frames),
            because_of=tuple(earlier),
            at_line=self._error_line or self._began,
        )


def _short(kind: str) -> str:
    return kind.rsplit(".", 1)[-1]


def _frame(file: str, line: str | None, function: str | None) -> Frame:
    return Frame(file=file, line=int(line or 0), function=function or "")


def _source(text: str) -> str:
    return text.strip()[:200]


def _callback_in(frames: Sequence[Frame]) -> CallbackFacts | None:
    """Keras's list of callbacks calls a hook: the next frame is in the callback."""
    for caller, frame in itertools.pairwise(frames):
        own = "keras" in caller.file and "keras" not in frame.file
        listed = "callback" in caller.file and _HOOK.match(caller.function)
        if (own or listed) and _HOOK.match(frame.function):
            name, _, hook = frame.function.rpartition(".")
            return CallbackFacts(
                class_name=name or "a callback",
                hook=hook,
                is_users=users_line([frame]) is not None,
                raised_at=Place(frame.file, frame.line),
            )
    return None


def _place_in(message: str) -> Place | None:
    """The user's line, where TensorFlow writes the stack into the message."""
    found = filter(None, map(_FRAME.match, message.splitlines()))
    frames = [_frame(each["file"], each["line"], each["function"]) for each in found]
    return users_line(reversed(frames))
