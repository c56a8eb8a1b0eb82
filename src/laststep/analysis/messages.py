"""Error messages of frameworks, libraries and the system, found in a recorded run and in a bare log alike."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from laststep.analysis.fatal import place_of_fault
from laststep.analysis.finding import Answer, Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.progress import fit_place, progress, went_on
from laststep.logs.harmless import is_harmless
from laststep.logs.read import parsed_console
from laststep.logs.tracebacks import CUT_OFF
from laststep.record.events.process import Raised
from laststep.record.events.supervisor import Verdict
from laststep.record.place import Place
from laststep.record.run import FATAL, Run, view

MAX_FAILURES = 1000
MAX_QUOTE_CHARS = 220
MAX_MESSAGE_CHARS = 16_000  # both ends are kept: TensorFlow puts the essential part at the end
MAX_LINE_CHARS = 2_000
MIN_WRAPPED_CHARS = 78  # a line of this length may continue in the next
# Errors that native code hands to Python.
_NATIVE = re.compile(
    r"(?:^|[.'\[ ])(?:Internal|Unknown|ResourceExhausted|NotFound|FailedPrecondition|Aborted|Unavailable|"
    r"Cancelled|DataLoss|OutOfRange|"
    r"InvalidArgument|Unimplemented|DeadlineExceeded|PermissionDenied|Op|Runtime|XlaRuntime|JaxRuntime|Import|"
    r"Memory|OS|System|"
    r"HorovodInternal|CalledProcess|OutOfMemory|Ray\w*|Worker\w*|\bIO)Error|StopIteration|KeyboardInterrupt|"
    r"SystemExit|ProcessExitedException|cuts off"
)
# A line that TensorFlow, XLA or absl logged: level, file and line of the source.
_STAMPED = re.compile(
    r"\b[IWEF] (?:[\w.]+/)*[\w.]+\.(?:cc|cpp|cu|h|mm):\d+\]|\b[IWEF]\d{4} \d\d:\d\d:[\d.]+ +\d+ [\w./]+:\d+\]|"
    r"\.(?:cc|cu):\d+\] |^(?:ERROR|FATAL)\b"
)
# Each message that a rule searches for contains one of these words.
_KEYWORD = re.compile(
    r"(?i)error|fail|could not|cannot|n't |not found|no such|exist|denied|memory|invalid|unexpected|mismatch|must|"
    r"incompatible|expected|received|corrupt|truncat|empty|shape|dimension|label|gradient|space|quota|too many|connect|"
    r"unavailable|time|killed|worker|peer|rank|nccl|cud|cublas|gpu|libdevice|ptxas|dll|symbol|version|illegal|abort|check|"
    r"alloc|shm|restor|report_resource|nan|inf|closed|unable|support|undefined|xid|bus|ecc|horovod|heartbeat|barrier|"
    r"read-only|jpeg|png|image|unknown|cast|type|limit|compiled|handle|core|segment|terminate|lost|mpi|rpc|grpc|stats"
)
_NODE = re.compile(r"\{\{node ([^}]+)\}\}|\[\[node (\S+)")
_STAMP = re.compile(
    r"^(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: )?[IWEF](?:\d{4} \d\d:\d\d:\d\d\.\d+ +\d+)? (?=[\w/.]+:\d+\])"
)

# What TensorFlow and Keras wrap around a message: where in the graph, and whose stack.
_NOISE = re.compile(
    r"Graph execution error|Detected at node|<stack traces unavailable>|File \"|\[\[\{\{node|Original stack trace|"
    r"in user code:|Arguments received by|Traceback \(most|Call arguments received|[•*] |\(most recent call last|…$|"
    r"\d+ root error|\(\d+\) |hint:|Hint:"
)


@dataclass(frozen=True)
class Message:
    """A match of a rule's pattern: in an exception that ended the training, or in a line on the console."""

    found: re.Match[str]
    event: Raised | None = None
    line: int | None = None

    def __getitem__(self, name: str) -> str:
        return self.found[name] or ""

    def get(self, name: str) -> str:
        """The named group, "" where the pattern that matched has none of that name."""
        return (self.found.groupdict().get(name) or "").strip()

    @property
    def quote(self) -> str:
        """The line of the message that matched."""
        text = self.found.string
        begin = text.rfind("\n", 0, self.found.start()) + 1
        end = text.find("\n", self.found.end())
        sentence = _STAMP.sub("", text[begin : end if end >= 0 else None]).partition("[[")[0].strip()
        if len(sentence) > MAX_QUOTE_CHARS:
            at = max(0, min(self.found.start() - begin - 40, len(sentence) - MAX_QUOTE_CHARS))
            sentence = ("…" if at else "") + sentence[at : at + MAX_QUOTE_CHARS - 2] + "…"
        return sentence

    @property
    def where(self) -> Place | None:
        return self.event.where if self.event is not None else None

    @property
    def evidence(self) -> Evidence:
        number = self.line or (self.event.at_line if self.event is not None else None)
        before = f"line {number:,}: " if number is not None else ""
        return Evidence(f"{before}“{self.quote}”", (self.event,) if self.event is not None else ())

    @property
    def op(self) -> str:
        """The op in whose kernel it happened, as TensorFlow names it."""
        node = _NODE.search(self.found.string)
        return (node[1] or node[2]) if node else ""


@view
def failures(run: Run) -> list[Raised]:
    """The exceptions that ended the training, the one that ended the program first."""
    finished = any(fit.complete for fit in run.fits[-1:])
    found = [run.uncaught] if run.uncaught is not None else []
    known = {event.message for event in found}
    for event in run.all(Raised):
        if event.left == "thread" and finished:
            continue  # of a helper thread: training finished without it
        ended_training = event.left in ("fit", "thread", "after") and not went_on(run, event.time)
        if run.survived(event):
            continue
        if ended_training and event.message not in known and len(found) < MAX_FAILURES:
            found.append(event)
            known.add(event.message)
    return found


def survived_errors(run: Run) -> list[Evidence]:
    """The last exception of a notebook's cell, where the kernel went on after it."""
    cells = [event for event in run.all(Raised) if event.left == "cell" and run.survived(event)]
    return [
        Evidence(f"a cell had failed before with {short_message(error, 120)}; the kernel survived that", (error,))
        for error in cells[-1:]
    ]


def ended_well(run: Run) -> bool:
    """No sign of a failure, and a sign of a normal end."""
    if run.uncaught is not None or run.signal is not None or run.exit_code or run.vanished:
        return False
    return run.exit_code == 0 or any(fit.complete for fit in run.fits[-1:])


@view
def _candidate_lines(run: Run) -> list[tuple[str, str, int]]:
    """Lines on the console that may name the cause: (the line, joined with the next if it may be wrapped, its number).

    None beside an error of Python's own, a kill or a request to terminate: these explain themselves. Beside an error
    from native code what native libraries logged; any line only after a fatal signal, or where nothing else is known.
    """
    return list(_read_candidates(run))


def _read_candidates(run: Run) -> Iterator[tuple[str, str, int]]:
    error = run.uncaught
    native = error is not None and any(_NATIVE.search(name) for name in (error.type, *error.bases))
    if run.alive or ended_well(run) or (error is not None and not native) or run.signal not in (None, *FATAL):
        return
    lone = error is None and not (run.exit_code or run.has(Verdict))
    any_line = run.signal in FATAL or lone or (error is not None and error.type == CUT_OFF)
    # Output is often buffered and comes late: where the end is recorded, the order on the console does not matter.
    last = parsed_console(run).last_progress if run.is_log else 0.0
    for line, after in itertools.zip_longest(parsed_console(run).lines, parsed_console(run).lines[1:]):
        text = line.text[:MAX_LINE_CHARS]
        if (
            line.number >= last
            and (_STAMPED.search(text) or (any_line and _KEYWORD.search(text)))
            and not is_harmless(text)
        ):
            wrapped = text + after.text[:MAX_LINE_CHARS] if after is not None and len(text) >= MIN_WRAPPED_CHARS else ""
            yield text, wrapped, line.number


def _shortened(text: str) -> str:
    half = MAX_MESSAGE_CHARS // 2
    return text if len(text) <= MAX_MESSAGE_CHARS else f"{text[:half]}\n…\n{text[-half:]}"


def find_messages(run: Run, *patterns: re.Pattern[str], console: bool = True) -> Iterator[Message]:
    """In the errors that ended the training, then on the console after the last sign of progress."""
    for event in failures(run):
        text = _shortened(f"{event.type}: {event.message}")
        inner = (f"{each.type}: {each.message}" for each in event.because_of)
        for message in (text, *inner, text.replace("\n", "")):  # a terminal may have wrapped it anywhere
            yield from (Message(found, event) for pattern in patterns for found in [pattern.search(message)] if found)
    for line, wrapped, number in _candidate_lines(run) if console else ():
        for pattern in patterns:
            found = pattern.search(line)
            if found is None and wrapped:
                found = pattern.search(wrapped)
                found = found if found is not None and found.start() < len(line) < found.end() else None
            if found is not None:
                yield Message(found, None, number)


def find_message(run: Run, *patterns: re.Pattern[str], console: bool = True) -> Message | None:
    return next(find_messages(run, *patterns, console=console), None)


def answer(
    run: Run,
    message: Message | None,
    nothing: str,
    cause: str = "",
    remedies: tuple[Remedy, ...] = (),
    more: tuple[Evidence, ...] = (),
    where: Place | None = None,
    confidence: Confidence = Confidence.CERTAIN,
) -> Answer:
    """The finding for a message, with the user's line and how far training had come; or that there was no message."""
    if message is None:
        return no(nothing)
    return Finding(
        cause=cause,
        confidence=min(confidence, _max_confidence(run, message)),
        evidence=(message.evidence, *more, *_op_of(message), progress(run)),
        remedies=remedies,
        where=where or message.where or _where_it_ended(run),
    )


def _max_confidence(run: Run, message: Message) -> Confidence:
    """How certain a message alone makes it: less, if it was not raised and no fatal signal is known."""
    if message.event is not None or run.signal in FATAL:
        return Confidence.CERTAIN
    return Confidence.LIKELY if _STAMPED.search(message.found.string) else Confidence.POSSIBLE


def _where_it_ended(run: Run) -> Place | None:
    """The user's line of the error that followed, or of the stack at a fatal signal."""
    raised = next((event.where for event in failures(run) if event.where), None)
    return raised or place_of_fault(run) or fit_place(run)


def _op_of(message: Message) -> tuple[Evidence, ...]:
    op = message.op
    return (Evidence(f"it happened in the op {op}"),) if op else ()


def compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.MULTILINE) for pattern in patterns)


def first_line(event: Raised) -> re.Match[str]:
    """The first line of an error, as a match: for an error that is known by something other than its message."""
    found = re.match(r".*", event.message)
    assert found is not None  # it matches nothing, too
    return found


def short_message(event: Raised, most: int = 300) -> str:
    """An exception as its type and the part of its message that a person reads first."""
    kind = (event.type or "?").rsplit(".", 1)[-1]
    lines = [line.strip() for line in event.message.splitlines()]
    begun = itertools.dropwhile(lambda line: not line or _NOISE.match(line), lines)
    telling = list(itertools.takewhile(lambda line: line and not _NOISE.match(line), begun))
    first = " ".join(telling[:3]) or " ".join(lines[:1])
    text = f"{kind}: {first}" if first else kind
    return text if len(text) <= most else text[: most - 1] + "…"


def traceback_on_console(run: Run) -> Raised | None:
    """The printed traceback of the exception that ended the program: for a run that was not recorded from inside."""
    return next((event for event in parsed_console(run).events if isinstance(event, Raised) and _ended_it(event)), None)


def _ended_it(event: Raised) -> bool:
    return event.left == "program" and bool(event.frames)
