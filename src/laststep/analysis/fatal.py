"""The four fatal signals share one autopsy: the Python stack, the library, the last words on the console."""

from __future__ import annotations

import re

from laststep.analysis.finding import Answer, Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.progress import progress
from laststep.analysis.signals import killed_with, reported, sender
from laststep.record.events.process import RecorderStart, SignalSent
from laststep.record.events.shared import users_line
from laststep.record.events.supervisor import Fault, KernelLine, ProcessEnd
from laststep.record.place import Place
from laststep.record.run import Run

_KERNEL_LIBRARY = re.compile(r" in ([^\s\[]+)\[")
LAST_WORDS = re.compile(
    r"terminate called|what\(\):|Check failed|F\d{4} |\*\*\*|: symbol lookup|double free|corrupt|invalid pointer|"
    r"Fatal Python error|Aborted"
)


def died_of(run: Run, number: int, name: str, what: str, remedies: tuple[Remedy, ...]) -> Answer:
    """The finding for one fatal signal, or why it is not that."""
    if not killed_with(run, number, name):
        return no(f"the process did not die of {name}")
    evidence = [reported(run, name)]
    by_whom = sender(run, name)
    fault = run.last(Fault)
    where = place_of_fault(run)
    if by_whom:
        evidence.append(by_whom)
        own = run.last(SignalSent)
        where = (own.where if own else None) or where
    if fault is not None:
        evidence.append(Evidence(f"Python's last line then was {_innermost(fault)}", (fault,)))
    library = _library(run)
    if library:
        evidence.append(Evidence(f"the kernel says it happened in {library[0]}", (library[1],)))
    words = last_words(run)
    if words:
        evidence.append(Evidence(f"its last words on the console: “{words}”"))
    evidence.append(progress(run))
    inside = f", inside {library[0]}" if library else ""
    return Finding(
        cause=f"{what}{inside}." if not by_whom else f"{what}: {by_whom.says}.",
        confidence=Confidence.CERTAIN,
        evidence=tuple(evidence),
        remedies=() if by_whom else remedies,
        where=where,
    )


def place_of_fault(run: Run) -> Place | None:
    """The user's own line in the stack that faulthandler wrote, the dying thread first."""
    fault = run.last(Fault)
    threads = sorted(fault.threads, key=lambda thread: not thread.current) if fault else []
    return next((where for thread in threads if (where := users_line(thread.frames))), None)


def _innermost(fault: Fault) -> str:
    """The innermost frame, and the user's own one where that is another."""
    died = next((thread for thread in fault.threads if thread.current), None) or next(iter(fault.threads), None)
    if died is None or not died.frames:
        return "outside Python (no Python frame in the thread that died)"
    top = died.frames[0]
    told = f"{top.function} at {_name(top.file)}:{top.line}"
    mine = users_line(died.frames)
    if mine is not None and mine.file != top.file:
        told += f", called from {_name(mine.file)}:{mine.line}"
    return told


def _name(file: str) -> str:
    return file.rsplit("/", 1)[-1]


def _library(run: Run) -> tuple[str, KernelLine] | None:
    end = run.last(ProcessEnd)
    pids = {start.pid for start in run.all(RecorderStart)} | ({end.pid} if end else set())
    for event in reversed(run.all(KernelLine)):
        found = _KERNEL_LIBRARY.search(event.line)
        if found and any(f"[{pid}]" in event.line for pid in pids):
            return found[1], event
    return None


def last_words(run: Run) -> str:
    """The last line on the console that a dying C or C++ program writes."""
    for line in reversed(run.console[-20000:].splitlines()):
        if LAST_WORDS.search(line) and not line.startswith("  File"):
            return line.strip()[:200]
    return ""
