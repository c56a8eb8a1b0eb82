"""The part of the page about a process that was watched from outside: what it is, what it does, what it uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from laststep import text as words
from laststep.record.events.shared import users_line
from laststep.record.events.stacks import Activity, Attached, ThreadStack
from laststep.record.events.supervisor import Limits
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.record.sample import GpuState

if TYPE_CHECKING:
    from laststep.reports.terminal import Page

MOST_CHILDREN = 4
PHASES = {
    **{"trace": "TensorFlow traces a graph", "save": "it writes a checkpoint", "a callback": "fit runs a callback"},
    **{"validation": "fit runs its validation", "step": "fit trains", "first step": "fit is in its first step"},
    **{"epoch start": "fit is in the first step of an epoch", "the start of fit": "fit has been called"},
    **{"evaluate": "evaluate runs", "predict": "predict runs", "loop": "a loop of its own calls TensorFlow"},
    "the program's own code": "it is in its own code",
}
STATES = {
    "stuck": "It did not move: the same stacks all the while, and no processor time",
    "busy": "It computes, at one and the same place all the while",
    "waking": "It waits, at one and the same place in each look",
    "moving": "It moves",
    "unseen": "Its stacks could be read too seldom to say whether it moves",
}
DOING = {
    **{"trace": "tracing a graph", "save": "writing a checkpoint", "callback": "in a callback"},
    **{"input": "waiting for the next batch", "execute": "inside a TensorFlow call"},
    **{"user": "in the program's own code", "keras": "in Keras's own Python"},
}


def tell_process(out: Page, run: Run, attached: Attached, verbose: bool) -> None:
    cwd = attached.cwd
    out.text(_what_it_is(run, attached), "", "")
    if attached.recorded:
        name = attached.recorded.rpartition("/")[2]
        out.text(f"laststep records this process already and knows more: laststep why {name} (in {cwd})", "", "")
    out.heading("What it does")
    out.text(_what_it_does(attached))
    _tell_profile(out, attached)
    out.heading("What it uses")
    for line in (_memory(run), _processor(attached), _gpu(run, attached), _files(attached)):
        out.item(line)
    _tell_children(out, attached)
    if verbose:
        for thread in attached.threads:
            _tell_thread(out, thread, cwd)


def _what_it_is(run: Run, attached: Attached) -> str:
    parts = [f"in {attached.cwd}"] if attached.cwd else []
    parts += [f"Python {attached.python}"] if attached.python else []
    parts += [] if attached.tensorflow else ["TensorFlow not loaded"]
    return " · ".join([*parts, f"running for {words.span(run.seconds)}"])


def _what_it_does(attached: Attached) -> str:
    where = words.place(attached.where, attached.cwd)
    doing = PHASES.get(attached.phase, attached.phase)
    sentences = [f"{STATES[attached.state]}. {doing[0].upper()}{doing[1:]}{f' ({where})' if where else ''}"]
    if attached.progress:
        sentences[0] += f"; {attached.progress}"
    if attached.quiet:
        sentences.append(f"But nothing has changed in the last {words.span(attached.quiet)}: look again")
    if attached.state == "waking":
        often = f"{attached.wakes:.1f} times a second"
        sentences.append(f"It runs a little in between, {often}: it may be slow, or ask again and again")
    if attached.state == "busy":
        sentences.append("Whether that ends can't be told from outside")
        if attached.holds_interpreter:
            sentences.append("One thread held Python's lock in every look: no other Python thread can run")
    return ". ".join(sentences) + "."


def _tell_profile(out: Page, attached: Attached) -> None:
    out.text(f"Of {words.count(attached.looks, 'look')} in {words.span(attached.seconds)} the main thread was:")
    for activity in attached.profile:
        out.text(f"{activity.times:3}  {_in_words(activity, attached.cwd)}", "  ", "       ")
    hidden = any(activity.doing == "execute" or activity.feeder for activity in attached.profile)
    if hidden and attached.state != "stuck":
        out.text("From outside, a compiled step that waits for data looks like one that computes.")


def _in_words(activity: Activity, cwd: str) -> str:
    at = f", {_short(activity.at, cwd)}" if activity.at else ""
    if activity.feeder:
        return f"inside a TensorFlow call{at}, while its input's Python was at {_short(activity.feeder, cwd)}"
    return f"{DOING.get(activity.doing, 'in a library')}{at}"


def _short(place: str, cwd: str) -> str:
    return place.removeprefix(cwd.rstrip("/") + "/") if cwd else place


def _memory(run: Run) -> str:
    first, last = run.samples[0], run.samples[-1]
    grown = last.rss - first.rss
    change = f", {words.size(abs(grown))} {'more' if grown > 0 else 'less'} than at the first look"
    used = f"memory: {words.size(last.rss)}{change if abs(grown) >= 1e6 else ', the same all the while'}"
    group, machine = last.group, last.host
    if group is not None:
        return f"{used}; its group has {words.size(group.used)} of {words.size(group.limit or 0)} allowed"
    return f"{used}; {words.size(machine.available or 0)} of {words.size(machine.total)} are free here"


def _processor(attached: Attached) -> str:
    cores = f"{attached.cpu:.1f} cores" if attached.cpu >= 0.05 else "less than 0.05 cores"
    busy = f"{attached.busy_threads} of {words.count(attached.native_threads, 'thread')} busy"
    return f"processor: {cores}, {busy}; it moved {words.size(attached.io)}/s"


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
    held = f"{words.size(own)} held by it" if own else "none held by it that can be seen"
    busy = f", {gpu.busy} % busy" if gpu.busy is not None else ""
    return f"GPU {gpu.gpu}: {held}, {words.size(gpu.used or 0)} of {words.size(gpu.total or 0)} in use{busy}"


def _files(attached: Attached) -> str:
    files = attached.files
    if files is None:
        return "open files: can't be read without its rights"
    of = f" of at most {files.limit:,}" if files.limit else ""
    groups = ", ".join(_group(group.what, group.count) for group in files.groups)
    return f"open files: {files.count:,}{of}: {groups}"


def _group(what: str, number: int) -> str:
    if what.startswith("/"):
        return f"{number:,} in {what}"
    return words.count(number, what) if what else f"{number:,} of the kernel's own"


def _tell_children(out: Page, attached: Attached) -> None:
    out.item(f"children: {len(attached.children) or 'none'}")
    for child in attached.children[:MOST_CHILDREN]:
        main = next((thread for thread in child.threads if thread.current), None)
        place = users_line(main.frames) if main is not None else None
        at = f", at {words.place(place, attached.cwd)}" if place else ""
        out.text(f"{child.pid} {child.name}: {child.cpu:.1f} cores{at}", "    ", "      ")


def _tell_thread(out: Page, thread: ThreadStack, cwd: str) -> None:
    """Its stack, the last call at the bottom."""
    name = thread.name or ("MainThread" if thread.current else "a thread without a name")
    blocked = f", in {thread.call} {thread.on}".rstrip() if thread.call else ""
    out.heading(f"{name} ({thread.tid}): {thread.cpu:.1f} cores{blocked}")
    for frame in reversed(thread.frames):
        at = words.place(Place(frame.file or "?", frame.line), cwd)
        out.line((f"  {at} in {frame.function or '?'}", ""))
