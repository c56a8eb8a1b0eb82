"""A console log → a Run: its lines, what they tell, and which of several runs in one file they belong to."""

from __future__ import annotations

import dataclasses
import io
import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from laststep.logs.bars import Bars
from laststep.logs.endings import Endings, end_at
from laststep.logs.line_reader import Line, Reading, Repeats, read_lines
from laststep.logs.tracebacks import Tracebacks
from laststep.record.decode import Scalar
from laststep.record.event import Event
from laststep.record.events.logs import SOURCE, Log, Progress
from laststep.record.events.process import Raised, WarningShown
from laststep.record.events.shared import Callback
from laststep.record.events.supervisor import ProcessEnd, Verdict
from laststep.record.events.training import Epoch, FitStart, Stop
from laststep.record.run import Run, view

FIRST, LAST = 4_000, 8_000  # lines that are kept of the beginning and of the end
MOST_EVENTS = 10_000
# They speak of any process of the machine.
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
    """What the lines of one run tell, in order. An event's time is its line's number."""

    lines: list[Line]
    events: list[Event]
    reading: Reading
    runs: int = 1

    @property
    def too_large(self) -> tuple[str, ...]:
        """What was left out of a file that takes too long."""
        if self.reading.cut:
            return (f"it is too large: read up to line {self.reading.lines:,}",)
        left_out = f"it is too large: {self.reading.skipped / 1e6:,.0f} MB in the middle were left out"
        return (left_out,) if self.reading.skipped else ()

    @property
    def last_progress(self) -> float:
        """The line at which training was last seen to move on."""
        epochs = [_moved(event) for event in self.events if isinstance(event, Epoch)]
        counted = [event.time for event in self.events if isinstance(event, Progress) and event.moved]
        # One more sign of life after an error is what was on its way already: threads, buffers.
        return max([*epochs, *counted[:-1]], default=0.0)


def parse_log(stream: BinaryIO, name: str = "the log", is_console: bool = False) -> ParsedLog:
    """All that the lines of the last run tell; memory does not grow with the file."""
    reading, repeats = Reading(), Repeats()
    teller = _Teller()
    for line in read_lines(stream, reading, repeats, name, is_console):
        if teller.take(line):
            repeats.forget()
    return teller.finish(reading)


@view
def parsed_console(run: Run) -> ParsedLog:
    """What a run printed, read as a bare log would be; what is no text in it is left out."""
    return parse_log(io.BytesIO(run.console.encode("utf-8", "replace")), is_console=True)


def run_from_log(story: ParsedLog, name: str) -> Run:
    """A run of which nothing is there but what it printed."""
    reading = story.reading
    log = Log(
        source=SOURCE,
        file=name,
        lines=reading.lines,
        bytes=reading.bytes,
        runs=story.runs,
        rubbish=reading.rubbish,
        is_reversed=reading.is_reversed,
    )
    run = Run(id=name, events=(log, *story.events), too_large=story.too_large)
    parsed_console.keep(run, story)
    return run


class _Teller:
    """Reads one run; starts anew where the next one begins."""

    def __init__(self) -> None:
        self._runs = 1
        self._candidate: int | None = None  # the line at which another run may have begun
        self._was_over = False
        self._first: list[Line] = []
        self._last: deque[Line] = deque(maxlen=LAST)
        self._events: list[Event] = []
        self._tracebacks, self._bars, self._endings = Tracebacks(), Bars(), Endings()
        self._monitor: Mapping[str, Scalar] = {}

    def take(self, line: Line) -> bool:
        """True when another run was seen to have begun."""
        self._note_a_start(line)
        (self._first if len(self._first) < FIRST else self._last).append(line)
        anew = False
        for event in self._tell(line):
            self._events.append(event)
            if self._candidate is not None and event.time >= self._candidate and self._is_another_runs(event):
                self._split_at(self._candidate)
                anew = True
        if len(self._events) > 2 * MOST_EVENTS:  # epochs and counters without end
            del self._events[MOST_EVENTS // 2 : -MOST_EVENTS // 2]
        return anew

    def finish(self, reading: Reading) -> ParsedLog:
        self._events += [*self._tracebacks.end(), *self._bars.end()]
        self._events.sort(key=lambda event: event.time)
        story = ParsedLog([*self._first, *self._last], self._events, reading, self._runs)
        story.events = list(_as_it_ended(story))
        return story

    def _note_a_start(self, line: Line) -> None:
        """A process begins here: of another run, if one was seen to end before; or a child, or another rank."""
        if not _STARTS.search(line.text):
            return
        self._events += self._tracebacks.end()
        if self._events and self._candidate is None:
            ended = self._endings.ended_at is not None or any(isinstance(e, Raised) for e in self._events[-3:])
            self._candidate, self._was_over = line.number, ended

    def _is_another_runs(self, event: Event) -> bool:
        """After an end, anything that a run shows; otherwise only epochs that begin anew."""
        if isinstance(event, FitStart):
            return self._was_over or event.initial_epoch == 0
        return self._was_over and isinstance(event, (Epoch, Progress, Raised, ProcessEnd, Verdict, Stop))

    def _split_at(self, number: int) -> None:
        self._runs += 1
        self._candidate = None
        self._endings.ended_at = None
        self._events = [event for event in self._events if event.time >= number]
        self._first = [line for line in (*self._first, *self._last) if line.number >= number][:FIRST]
        self._last.clear()

    def _tell(self, line: Line) -> Iterator[Event]:
        was_open = self._tracebacks.in_message
        yield from self._tracebacks.take(line)
        if self._tracebacks.is_open:
            if self._tracebacks.in_message and not was_open:
                yield from self._endings.take(line)  # `CalledProcessError: … exit status 137`
            return
        yield from self._said(line)
        yield from self._bars.take(line)
        yield from self._endings.take(line)

    def _said(self, line: Line) -> Iterator[Event]:
        """Lines of Keras and TensorFlow that stand for something the recorder would have seen itself."""
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
                callback=Callback(class_name="EarlyStopping" if early else "TerminateOnNaN", module="keras"),
                epoch=int(early["epoch"]) - 1 if early else None,
                values=self._monitor if early else {},
                metrics=self._bars.metrics,  # still filled: the bar of the bad batch is drawn after this line
                at_line=line.number,
                text=text[:200],
            )

    def _warning(self, line: Line, warned: re.Match[str]) -> WarningShown:
        message = (warned["logged"] or warned["message"] or "")[:1000]
        if warned["logged"] and _RAN_OUT.search(message):  # Keras 2 stops; Keras 3 says it late, or for nothing
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
    """The line at which an epoch was last seen to move on: its end, or the last move but one of one that is open."""
    return float(epoch.moved_at or 0) if epoch.is_open else epoch.time


def _went_on(story: ParsedLog, error: Raised) -> bool:
    """Whether training moved on after an error. What print() wrote may have been buffered and come after it."""
    if any(isinstance(event, Epoch) and _moved(event) > error.time for event in story.events):
        return True
    if error.time >= story.last_progress:
        return False
    end = error.at_line or 0
    return any(line.number > end and _AT_ONCE.search(line.text) for line in story.lines)


def _as_it_ended(story: ParsedLog) -> Iterator[Event]:
    """An exception or an end after which training moved on was not the program's own; of the rest one counts."""
    last_progress = story.last_progress
    ends = [event for event in story.events if isinstance(event, ProcessEnd) and event.time >= last_progress]
    end = max(ends, key=_how_telling, default=None)
    fatal = None
    for event in story.events:
        if isinstance(event, Raised):
            first = "thread" if event.left == "thread" else "program"
            left = "caught" if _went_on(story, event) else first if fatal is None or first == "thread" else "after"
            event = dataclasses.replace(event, left=left)
            fatal = event if left == "program" else fatal
        if isinstance(event, Verdict) and event.time < last_progress and event.by in ABOUT_OTHERS_TOO:
            continue
        if not isinstance(event, ProcessEnd) or event is end:
            yield event


def _how_telling(end: ProcessEnd) -> tuple[bool, bool, float]:
    """A shell's word for a signal says more than the exit code that follows; among equals the first."""
    return end.signal is not None, bool(end.code), -end.time
