"""The part of the page about a process that was watched from outside: what it is, what it does, what it uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from laststep.analysis.stacks import MAX_IDLE_CORES
from laststep.record.events.shared import users_line
from laststep.record.events.stacks import Activity, Attached, ThreadStack
from laststep.record.events.supervisor import Limits
from laststep.record.run import Run
from laststep.record.sample import GpuState
from laststep.text import format_count, format_duration, format_place, format_size

if TYPE_CHECKING:
    from laststep.reports.page import Page

MAX_CHILDREN = 4
MIN_GROWTH_BYTES = 1e6
PHASES = {
    **{"trace": "TensorFlow traces a graph", "save": "it writes a checkpoint", "a callback": "fit runs a callback"},
    **{"validation": "fit runs its validation", "step": "fit trains", "first step": "fit is in its first step"},
    **{"epoch start": "fit is in the first step of an epoch", "the start of fit": "fit was called"},
    **{"evaluate": "evaluate runs", "predict": "predict runs", "loop": "a hand-written loop calls TensorFlow"},
    "the program's own code": "it is in its own code",
}
STATES = {
    "stuck": "It makes no progress: the stacks stay the same, and it uses no CPU time",
    "busy": "It computes, at the same place all the time",
    "waking": "It waits, at the same place in every snapshot",
    "moving": "It makes progress",
    "unseen": "Its stacks could not be read often enough to tell whether it makes progress",
}
DOING = {
    **{"trace": "tracing a graph", "save": "writing a checkpoint", "callback": "in a callback"},
    **{"input": "waiting for the next batch", "execute": "inside a TensorFlow call"},
    **{"user": "in the program's own code", "keras": "in Keras's own Python"},
}


def add_process(out: Page, run: Run, attached: Attached, verbose: bool) -> None:
    cwd = attached.cwd
    out.text(_what_it_is(run, attached), "", "")
    if attached.recorded:
        name = attached.recorded.rpartition("/")[2]
        out.text(
            f"laststep records this process already, and its record contains more: laststep why {name} (in {cwd})",
            "",
            "",
        )
    out.heading("What it does")
    out.text(_what_it_does(attached))
    _add_profile(out, attached)
    out.heading("What it uses")
    for line in (_memory(run), _processor(attached), _gpu(run, attached), _files(attached)):
        out.item(line)
    _add_children(out, attached)
    if verbose:
        for thread in attached.threads:
            _add_thread(out, thread, cwd)


def _what_it_is(run: Run, attached: Attached) -> str:
    parts = [f"in {attached.cwd}"] if attached.cwd else []
    parts += [f"Python {attached.python}"] if attached.python else []
    parts += [] if attached.tensorflow else ["TensorFlow not loaded"]
    return " · ".join([*parts, f"running for {format_duration(run.seconds)}"])


def _what_it_does(attached: Attached) -> str:
    where = format_place(attached.where, attached.cwd)
    doing = PHASES.get(attached.phase, attached.phase)
    sentences = [f"{STATES[attached.state]}. {doing[0].upper()}{doing[1:]}{f' ({where})' if where else ''}"]
    if attached.progress:
        sentences[0] += f"; {attached.progress}"
    if attached.quiet:
        sentences.append(f"But nothing has changed in the last {format_duration(attached.quiet)}: attach again")
    if attached.state == "waking":
        sentences.append(f"In between it wakes up {attached.wakes:.1f} times per second: it may be slow, or polling")
    if attached.state == "busy":
        sentences.append("Whether it will finish cannot be seen from outside")
        if attached.holds_interpreter:
            sentences.append("One thread held the GIL in every snapshot: no other Python thread can run")
    return ". ".join(sentences) + "."


def _add_profile(out: Page, attached: Attached) -> None:
    taken = f"{format_count(attached.snapshots, 'snapshot')} in {format_duration(attached.seconds)}"
    out.text(f"In {taken} the main thread was:")
    for activity in attached.profile:
        out.text(f"{activity.times:3}  {_describe(activity, attached.cwd)}", "  ", "       ")
    hidden = any(activity.doing == "execute" or activity.feeder for activity in attached.profile)
    if hidden and attached.state != "stuck":
        out.text("From outside, a compiled step that waits for data looks like one that computes.")


def _describe(activity: Activity, cwd: str) -> str:
    at = f", {_short(activity.at, cwd)}" if activity.at else ""
    if activity.feeder:
        return f"inside a TensorFlow call{at}, while the input pipeline's Python was at {_short(activity.feeder, cwd)}"
    return f"{DOING.get(activity.doing, 'in a library')}{at}"


def _short(place: str, cwd: str) -> str:
    return place.removeprefix(cwd.rstrip("/") + "/") if cwd else place


def _memory(run: Run) -> str:
    first, last = run.samples[0], run.samples[-1]
    grown = last.rss - first.rss
    change = f", {format_size(abs(grown))} {'more' if grown > 0 else 'less'} than at first"
    used = f"memory: {format_size(last.rss)}{change if abs(grown) >= MIN_GROWTH_BYTES else ', constant'}"
    group, machine = last.group, last.host
    if group is not None:
        return f"{used}; its control group uses {format_size(group.used)} of {format_size(group.limit or 0)}"
    return (
        f"{used}; {format_size(machine.available or 0)} of {format_size(machine.total)} are available on this machine"
    )


def _processor(attached: Attached) -> str:
    cores = f"{attached.cpu:.1f} cores" if attached.cpu >= MAX_IDLE_CORES else f"less than {MAX_IDLE_CORES} cores"
    busy = f"{attached.busy_threads} of {format_count(attached.native_threads, 'thread')} busy"
    return f"CPU: {cores}, {busy}; I/O: {format_size(attached.io)}/s"


def _gpu(run: Run, attached: Attached) -> str:
    gpus, limits = run.samples[-1].gpus, run.last(Limits)
    if not gpus:
        return f"GPU: none seen ({limits.no_gpus_because or 'none is there'})" if limits else "GPU: none seen"
    pids = {attached.pid, *(child.pid for child in attached.children)}
    return "; ".join(_one_gpu(gpu, pids) for gpu in gpus)


def _one_gpu(gpu: GpuState, pids: set[int]) -> str:
    if gpu.error:
        return f"GPU {gpu.gpu}: {gpu.error}"
    own = sum(holder.used or 0 for holder in gpu.held_by if holder.pid in pids)
    held = f"{format_size(own)} held by it" if own else "none visibly held by it"
    busy = f", {gpu.busy}% busy" if gpu.busy is not None else ""
    return f"GPU {gpu.gpu}: {held}, {format_size(gpu.used or 0)} of {format_size(gpu.total or 0)} in use{busy}"


def _files(attached: Attached) -> str:
    files = attached.files
    if files is None:
        return "open files: not readable with these permissions"
    of = f" (limit {files.limit:,})" if files.limit else ""
    groups = ", ".join(_group(group.what, group.count) for group in files.groups)
    return f"open files: {files.count:,}{of}: {groups}"


def _group(what: str, number: int) -> str:
    if what.startswith("/"):
        return f"{number:,} in {what}"
    return format_count(number, what) if what else f"{number:,} of the kernel"


def _add_children(out: Page, attached: Attached) -> None:
    out.item(f"children: {len(attached.children) or 'none'}")
    for child in attached.children[:MAX_CHILDREN]:
        main = next((thread for thread in child.threads if thread.current), None)
        place = users_line(main.frames) if main is not None else None
        at = f", at {format_place(place, attached.cwd)}" if place else ""
        out.text(f"{child.pid} {child.name}: {child.cpu:.1f} cores{at}", "    ", "      ")


def _add_thread(out: Page, thread: ThreadStack, cwd: str) -> None:
    """Its stack, the last call at the bottom."""
    name = thread.name or ("MainThread" if thread.current else "a thread without a name")
    blocked = f", in {thread.call} {thread.on}".rstrip() if thread.call else ""
    out.heading(f"{name} ({thread.tid}): {thread.cpu:.1f} cores{blocked}")
    for frame in reversed(thread.frames):
        out.line((f"  {format_place(frame, cwd) or '?'} in {frame.function or '?'}", ""))
