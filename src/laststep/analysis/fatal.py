"""Findings about the four fatal signals: the Python stack, the library, the last message on the console."""

from __future__ import annotations

import re

from laststep.analysis.finding import Answer, Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.progress import progress
from laststep.analysis.signals import killed_with, reported, sender, unseen_end
from laststep.record.events.process import RecorderStart, SignalSent
from laststep.record.events.shared import users_line
from laststep.record.events.supervisor import Fault, KernelLine, ProcessEnd
from laststep.record.place import Place
from laststep.record.run import Run

_KERNEL_LIBRARY = re.compile(r" in ([^\s\[]+)\[")
FATAL_MESSAGE = re.compile(
    r"terminate called|what\(\):|Check failed|F\d{4} |\*\*\*|: symbol lookup|double free|corrupt|invalid pointer|"
    r"Fatal Python error|Aborted"
)


def died_of(run: Run, number: int, name: str, what: str, remedies: tuple[Remedy, ...]) -> Answer:
    """The finding for one fatal signal, or why it is not that."""
    unseen = unseen_end(run)
    if unseen is not None:
        return unseen
    if not killed_with(run, number, name):
        return no(f"{name} did not end the process")
    evidence = [reported(run, name)]
    by_whom = sender(run, name)
    fault = run.last(Fault)
    where = place_of_fault(run)
    if by_whom:
        evidence.append(by_whom)
        own = run.last(SignalSent)
        where = (own.where if own else None) or where
    if fault is not None:
        evidence.append(Evidence(f"the thread that died was {_innermost(fault)}", (fault,)))
    library = _library(run)
    if library:
        evidence.append(Evidence(f"the kernel log says that it happened in {library[0]}", (library[1],)))
    message = last_message(run)
    if message:
        evidence.append(Evidence(f"the last message on the console: “{message}”"))
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
    """The user's own line in the stacks that faulthandler wrote, of the thread that died first."""
    fault = run.last(Fault)
    threads = sorted(fault.threads, key=lambda thread: not thread.current) if fault else []
    return next((where for thread in threads if (where := users_line(thread.frames))), None)


def _innermost(fault: Fault) -> str:
    """The innermost frame, and the user's own one where that is another."""
    died = next((thread for thread in fault.threads if thread.current), None) or next(iter(fault.threads), None)
    if died is None or not died.frames:
        return "outside Python (it had no Python frame)"
    top = died.frames[0]
    users = users_line(died.frames)
    called = f", called from {_name(users.file)}:{users.line}" if users and users.file != top.file else ""
    return f"in {top.function} at {_name(top.file)}:{top.line}{called}"


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


def last_message(run: Run) -> str:
    """The last line on the console that C or C++ code writes before it aborts."""
    for line in reversed(run.console[-20000:].splitlines()):
        if FATAL_MESSAGE.search(line) and not line.startswith("  File"):
            return line.strip()[:200]
    return ""
