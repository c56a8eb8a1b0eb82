"""The part of the page about a process that was watched from outside: what it is, what it does, what it uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from laststep import text as words
from laststep.analysis.stacks import Thread
from laststep.record.event import Event
from laststep.record.run import Run

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


def tell_process(out: Page, run: Run, attached: Event, verbose: bool) -> None:
    cwd = str(attached.get("cwd") or "")
    out.text(_what_it_is(run, attached), "", "")
    if attached.get("recorded"):
        name = str(attached.get("recorded")).rpartition("/")[2]
        out.text(f"laststep records this process already and knows more: laststep why {name} (in {cwd})", "", "")
    out.heading("What it does")
    out.text(_what_it_does(attached, cwd))
    _tell_profile(out, attached, cwd)
    out.heading("What it uses")
    for line in (_memory(run), _processor(attached), _gpu(run, attached), _files(attached)):
        out.item(line)
    _tell_children(out, attached, cwd)
    if verbose:
        _tell_threads(out, attached, cwd)


def _what_it_is(run: Run, attached: Event) -> str:
    told = [f"in {attached.get('cwd')}"] if attached.get("cwd") else []
    told += [f"Python {attached.get('python')}"] if attached.get("python") else []
    told += [] if attached.get("tensorflow") else ["TensorFlow not loaded"]
    return " · ".join([*told, f"running for {words.span(run.seconds)}"])


def _what_it_does(attached: Event, cwd: str) -> str:
    where = words.place(attached.get("where"), cwd)
    state = str(attached.get("state"))
    doing = PHASES.get(str(attached.get("phase")), str(attached.get("phase")))
    told = [f"{STATES[state]}. {doing[0].upper()}{doing[1:]}{f' ({where})' if where else ''}"]
    if attached.get("progress"):
        told[0] += f"; {attached.get('progress')}"
    if attached.get("quiet"):
        told.append(f"But nothing has changed in the last {words.span(attached.get('quiet'))}: look again")
    if state == "waking":
        often = f"{float(attached.get('wakes')):.1f} times a second"
        told.append(f"It runs a little in between, {often}: it may be slow, or ask again and again")
    if state == "busy":
        told.append("Whether that ends can't be told from outside")
        if attached.get("holds_interpreter"):
            told.append("One thread held Python's lock in every look: no other Python thread can run")
    return ". ".join(told) + "."


def _tell_profile(out: Page, attached: Event, cwd: str) -> None:
    looks = attached.get("looks")
    out.text(f"Of {words.count(looks, 'look')} in {words.span(attached.get('seconds'))} the main thread was:")
    hidden = False
    for entry in attached.get("profile", []):
        hidden = hidden or bool(entry["doing"] == "execute" or entry["feeder"])
        out.text(f"{entry['times']:3}  {_in_words(entry, cwd)}", "  ", "       ")
    if hidden and attached.get("state") != "stuck":
        out.text("From outside, a compiled step that waits for data looks like one that computes.")


def _in_words(entry: Mapping[str, Any], cwd: str) -> str:
    at = f", {_short(entry['at'], cwd)}" if entry["at"] else ""
    if entry["feeder"]:
        return f"inside a TensorFlow call{at}, while its input's Python was at {_short(entry['feeder'], cwd)}"
    return f"{DOING.get(str(entry['doing']), 'in a library')}{at}"


def _short(place: str, cwd: str) -> str:
    return place.removeprefix(cwd.rstrip("/") + "/") if cwd else place


def _memory(run: Run) -> str:
    first, last = run.samples[0], run.samples[-1]
    grown = float(last["rss"] - first["rss"])
    change = f", {words.size(abs(grown))} {'more' if grown > 0 else 'less'} than at the first look"
    told = f"memory: {words.size(last['rss'])}{change if abs(grown) >= 1e6 else ', the same all the while'}"
    group = last.get("group")
    if group:
        return f"{told}; its group has {words.size(group.get('used', 0))} of {words.size(group['limit'])} allowed"
    machine = last["host"]
    return f"{told}; {words.size(machine.get('available', 0))} of {words.size(machine.get('total', 0))} are free here"


def _processor(attached: Event) -> str:
    cpu = float(attached.get("cpu"))
    cores = f"{cpu:.1f} cores" if cpu >= 0.05 else "less than 0.05 cores"
    busy = f"{attached.get('busy_threads')} of {words.count(attached.get('native_threads'), 'thread')} busy"
    return f"processor: {cores}, {busy}; it moved {words.size(float(attached.get('io')))}/s"


def _gpu(run: Run, attached: Event) -> str:
    gpus = run.samples[-1].get("gpus", [])
    limits = run.last("limits")
    if not gpus:
        return f"GPU: none seen ({limits.get('no_gpus_because') or 'none is there'})" if limits else "GPU: none seen"
    pids = {attached.get("pid"), *(child["pid"] for child in attached.get("children", []))}
    return "; ".join(_one_gpu(gpu, pids) for gpu in gpus)


def _one_gpu(gpu: Mapping[str, Any], pids: set[Any]) -> str:
    if "error" in gpu:
        return f"GPU {gpu['gpu']}: {gpu['error']}"
    own = sum(int(holder.get("used") or 0) for holder in gpu.get("held_by", []) if holder["pid"] in pids)
    held = f"{words.size(own)} held by it" if own else "none held by it that can be seen"
    busy = f", {gpu['busy']} % busy" if "busy" in gpu else ""
    return f"GPU {gpu['gpu']}: {held}, {words.size(gpu['used'])} of {words.size(gpu['total'])} in use{busy}"


def _files(attached: Event) -> str:
    files = attached.get("files") or {}
    if not files:
        return "open files: can't be read without its rights"
    of = f" of at most {files['limit']:,}" if files.get("limit") else ""
    groups = ", ".join(_group(group["what"], group["count"]) for group in files["groups"])
    return f"open files: {files['count']:,}{of}: {groups}"


def _group(what: str, number: int) -> str:
    if what.startswith("/"):
        return f"{number:,} in {what}"
    return words.count(number, what) if what else f"{number:,} of the kernel's own"


def _tell_children(out: Page, attached: Event, cwd: str) -> None:
    children = attached.get("children", [])
    out.item(f"children: {len(children) or 'none'}")
    for child in children[:MOST_CHILDREN]:
        lead = next((Thread(told) for told in child.get("threads", []) if told.get("current")), Thread({}))
        at = f", at {words.place(lead.place, cwd)}" if lead.place else ""
        out.text(f"{child['pid']} {child['name']}: {child['cpu']:.1f} cores{at}", "    ", "      ")


def _tell_threads(out: Page, attached: Event, cwd: str) -> None:
    """Every Python thread, the last call at the bottom."""
    for told in attached.get("threads", []):
        name = told.get("name") or ("MainThread" if told.get("current") else "a thread without a name")
        blocked = f", in {told['call']} {told.get('on') or ''}".rstrip() if told.get("call") else ""
        out.heading(f"{name} ({told.get('tid')}): {told.get('cpu', 0.0):.1f} cores{blocked}")
        for frame in reversed(told.get("frames", [])):
            out.line((f"  {words.place(frame, cwd)} in {frame.get('function', '?')}", ""))
