"""A console log → a Run: its lines, their events, and which of several runs in one file they belong to."""

from __future__ import annotations

import dataclasses
import io
import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from laststep.logs.bars import Bars
from laststep.logs.endings import Endings, end_at
from laststep.logs.line_reader import LogLine, Reading, Repeats, read_lines
from laststep.logs.tracebacks import Tracebacks
from laststep.record.decode import Scalar
from laststep.record.event import Event
from laststep.record.events.logs import SOURCE, Log, Progress
from laststep.record.events.process import Raised, WarningShown
from laststep.record.events.shared import CallbackFacts
from laststep.record.events.supervisor import ProcessEnd, Verdict
from laststep.record.events.training import Epoch, FitStart, Stop
from laststep.record.run import Run, view

MAX_FIRST_LINES, MAX_LAST_LINES = 4_000, 8_000  # that are kept of the beginning and of the end
MAX_EVENTS = 10_000
# They report on any process of the machine.
ABOUT_OTHERS_TOO = ("the kernel", "Ray", "systemd-oomd", "earlyoom", "YARN", "Jupyter")
# What a process prints once, when TensorFlow is loaded, and a shell's prompt before it.
_STARTS = re.compile(
    r"This TensorFlow binary is optimized|Successfully opened dynamic library (?:lib)?cudart|"
    r"oneDNN custom operations are on|Your CPU supports instructions|^Using TensorFlow backend|"
    r"Unable to register cuDNN factory|^(?:\([\w.-]+\) ?)?(?:\S*[$#%]|PS [^>]*>|[A-Z]:\\[^>]*>) "
    r"?(?:\S+[/\\])?python[\d.]*(?:\.exe)? \S"
)
_FATAL = re.compile(
    r"^(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: F |F\d{4} \d\d:\d\d:\d+\.\d+ +\d+ )[\w/.]+:\d+\]|^F tensorflow/"
)
_WARNING = re.compile(r"WARNING:(?:tensorflow|absl):(?P<logged>.*)|(?P<category>\b\w*Warning): (?P<message>.*)")
_RAN_OUT = re.compile(r"input ran out of data")
# What goes to stderr or is flushed, and so stands where it was written: logging, warnings, bars, tracebacks.
_AT_ONCE = re.compile(
    r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d|^[IWEF]\d{4} |^(?:INFO|WARNING|ERROR)\b|Warning: |^Traceback|\d%\|"
)
_EARLY = re.compile(r"^Epoch 0*(?P<epoch>\d+): early stopping")
_NOT_IMPROVED = re.compile(r"^Epoch 0*\d+: (?P<monitor>\S+) did not improve from (?P<best>[-\d.e+]+)")
_ON_NAN = re.compile(r"Batch (?P<batch>\d+): Invalid loss, terminating training")


@dataclasses.dataclass
class ParsedLog:
    """The lines and events of one run, in order. The time of an event is the number of its line."""

    lines: list[LogLine]
    events: list[Event]
    reading: Reading
    runs: int = 1

    @property
    def too_large(self) -> tuple[str, ...]:
        """What was not read of a file that takes too long."""
        if self.reading.cut:
            return (f"it is too large: read up to line {self.reading.lines:,}",)
        left_out = f"it is too large: {self.reading.skipped / 1e6:,.0f} MB in the middle were skipped"
        return (left_out,) if self.reading.skipped else ()

    @property
    def last_progress(self) -> float:
        """The line at which training last made progress."""
        epochs = [_moved(event) for event in self.events if isinstance(event, Epoch)]
        counted = [event.time for event in self.events if isinstance(event, Progress) and event.moved]
        # A single sign of progress after an error was on its way already: threads, buffers.
        return max([*epochs, *counted[:-1]], default=0.0)


def parse_log(stream: BinaryIO, name: str = "the log", is_console: bool = False) -> ParsedLog:
    """The last run of a log; memory does not grow with the file."""
    reading, repeats = Reading(), Repeats()
    parser = _LogParser()
    for line in read_lines(stream, reading, repeats, name, is_console):
        if parser.take(line):
            repeats.forget()
    return parser.finish(reading)


@view
def parsed_console(run: Run) -> ParsedLog:
    """What a run printed, parsed as a bare log; what is no text in it is left out."""
    return parse_log(io.BytesIO(run.console.encode("utf-8", "replace")), is_console=True)


def run_from_console(run: Run) -> Run:
    """What a launched run printed, as a bare log of the same name."""
    return run_from_log(parsed_console(run), run.id, is_kept=True)


def run_from_log(log: ParsedLog, name: str, is_kept: bool = False) -> Run:
    """A run of which only the output is known."""
    reading = log.reading
    event = Log(
        source=SOURCE,
        file=name,
        lines=reading.lines,
        bytes=reading.bytes,
        runs=log.runs,
        binary_lines=reading.binary_lines,
        is_reversed=reading.is_reversed,
        is_kept=is_kept,
    )
    run = Run(id=name, events=(event, *log.events), too_large=log.too_large)
    parsed_console.keep(run, log)
    return run


class _LogParser:
    """Reads line by line; starts again where another run begins."""

    def __init__(self) -> None:
        self._runs = 1
        self._candidate: int | None = None  # the line at which another run may have begun
        self._was_over = False
        self._first: list[LogLine] = []
        self._last: deque[LogLine] = deque(maxlen=MAX_LAST_LINES)
        self._events: list[Event] = []
        self._tracebacks, self._bars, self._endings = Tracebacks(), Bars(), Endings()
        self._monitor: Mapping[str, Scalar] = {}

    def take(self, line: LogLine) -> bool:
        """True if this line shows that another run has begun."""
        self._note_start(line)
        (self._first if len(self._first) < MAX_FIRST_LINES else self._last).append(line)
        is_another = False
        for event in self._events_of(line):
            self._events.append(event)
            if self._candidate is not None and event.time >= self._candidate and self._is_another_runs(event):
                self._split_at(self._candidate)
                is_another = True
        if len(self._events) > 2 * MAX_EVENTS:  # epochs and counters, endlessly
            del self._events[MAX_EVENTS // 2 : -MAX_EVENTS // 2]
        return is_another

    def finish(self, reading: Reading) -> ParsedLog:
        self._events += [*self._tracebacks.end(), *self._bars.end()]
        self._events.sort(key=lambda event: event.time)
        log = ParsedLog([*self._first, *self._last], self._events, reading, self._runs)
        log.events = list(_as_it_ended(log))
        return log

    def _note_start(self, line: LogLine) -> None:
        """A process begins here: of another run, if one has ended before; or a child, or another rank."""
        if not _STARTS.search(line.text):
            return
        self._events += self._tracebacks.end()
        if self._events and self._candidate is None:
            ended = self._endings.ended_at is not None or any(isinstance(e, Raised) for e in self._events[-3:])
            self._candidate, self._was_over = line.number, ended

    def _is_another_runs(self, event: Event) -> bool:
        """After an end, any event of a run; otherwise only epochs that start again."""
        if isinstance(event, FitStart):
            return self._was_over or event.initial_epoch == 0
        return self._was_over and isinstance(event, (Epoch, Progress, Raised, ProcessEnd, Verdict, Stop))

    def _split_at(self, number: int) -> None:
        self._runs += 1
        self._candidate = None
        self._endings.ended_at = None
        self._events = [event for event in self._events if event.time >= number]
        self._first = [line for line in (*self._first, *self._last) if line.number >= number][:MAX_FIRST_LINES]
        self._last.clear()

    def _events_of(self, line: LogLine) -> Iterator[Event]:
        was_open = self._tracebacks.in_message
        yield from self._tracebacks.take(line)
        if self._tracebacks.is_open:
            if self._tracebacks.in_message and not was_open:
                yield from self._endings.take(line)  # `CalledProcessError: … exit status 137`
            return
        yield from self._keras_events(line)
        yield from self._bars.take(line)
        yield from self._endings.take(line)

    def _keras_events(self, line: LogLine) -> Iterator[Event]:
        """Lines of Keras and TensorFlow about what a recorder records itself."""
        text, when = line.text, float(line.number)
        if _FATAL.match(text.strip()):
            yield end_at(line, None, "SIGABRT")
            self._endings.ended_at = line.number
        warned = _WARNING.search(text)
        if warned:
            yield self._warning(line, warned)
        improved = _NOT_IMPROVED.match(text)
        if improved:
            self._monitor = {"monitor": improved["monitor"], "best": float(improved["best"])}
        early, nan = _EARLY.match(text), _ON_NAN.search(text)
        if early or nan:
            yield Stop(
                time=when,
                source=SOURCE,
                callback=CallbackFacts(class_name="EarlyStopping" if early else "TerminateOnNaN", module="keras"),
                epoch=int(early["epoch"]) - 1 if early else None,
                values=self._monitor if early else {},
                metrics=self._bars.metrics,  # still updated: the bar of the bad batch comes after this line
                at_line=line.number,
                text=text[:200],
            )

    def _warning(self, line: LogLine, warned: re.Match[str]) -> WarningShown:
        message = (warned["logged"] or warned["message"] or "")[:1000]
        if warned["logged"] and _RAN_OUT.search(
            message
        ):  # Keras 2 stops there; Keras 3 warns late, or without a reason
            self._bars.ran_out()
        return WarningShown(
            time=float(line.number),
            source=SOURCE,
            category=warned["category"] or "logged",
            message=message,
            at_line=line.number,
            batch=self._bars.done,
            of=self._bars.of,
        )


def _moved(epoch: Epoch) -> float:
    """The line at which an epoch last made progress: its end, or the last move but one while it is open."""
    return float(epoch.moved_at or 0) if epoch.is_open else epoch.time


def _went_on(log: ParsedLog, error: Raised) -> bool:
    """Whether training continued after an error. Output of print() may have been buffered and come after it."""
    if any(isinstance(event, Epoch) and _moved(event) > error.time for event in log.events):
        return True
    if error.time >= log.last_progress:
        return False
    end = error.at_line or 0
    return any(line.number > end and _AT_ONCE.search(line.text) for line in log.lines)


def _as_it_ended(log: ParsedLog) -> Iterator[Event]:
    """An exception or an end after which training continued was not the program's own; of the rest one counts."""
    last_progress = log.last_progress
    ends = [event for event in log.events if isinstance(event, ProcessEnd) and event.time >= last_progress]
    end = max(ends, key=_how_specific, default=None)
    fatal = None
    for event in log.events:
        if isinstance(event, Raised):
            first = "thread" if event.left == "thread" else "program"
            left = "caught" if _went_on(log, event) else first if fatal is None or first == "thread" else "after"
            event = dataclasses.replace(event, left=left)
            fatal = event if left == "program" else fatal
        if isinstance(event, Verdict) and event.time < last_progress and event.by in ABOUT_OTHERS_TOO:
            continue
        if not isinstance(event, ProcessEnd) or event is end:
            yield event


def _how_specific(end: ProcessEnd) -> tuple[bool, bool, float]:
    """A signal named by a shell is more specific than the exit code that follows; among equals the first."""
    return end.signal is not None, bool(end.code), -end.time
