"""What several rules say: how far it came, who sent the signal, memory over time, the user's line in a stack."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any

from laststep import text as words
from laststep.analysis.finding import Evidence, Remedy, RuledOut, Unchecked
from laststep.logs.read import story_of
from laststep.record.event import Event
from laststep.record.events.stacks import Attached
from laststep.record.events.training import LoopSeen
from laststep.record.place import Place as SourcePlace
from laststep.record.run import Run
from laststep.recorder.frames import users_line

Place = Mapping[str, Any]
# What TensorFlow and Keras wrap around a message: where in the graph, and whose stack.
_NOISE = re.compile(
    r"Graph execution error|Detected at node|<stack traces unavailable>|File \"|\[\[\{\{node|Original stack trace|"
    r"in user code:|Arguments received by|Traceback \(most|Call arguments received|[•*] |\(most recent call last|…$|"
    r"\d+ root error|\(\d+\) |hint:|Hint:"
)


def no(because: str) -> RuledOut:
    return RuledOut(because)


def measured(because: str) -> RuledOut:
    """Ruled out by something that was measured: worth telling."""
    return RuledOut(because, measured=True)


def cannot(because: str) -> Unchecked:
    """What would tell is not there."""
    return Unchecked(because)


def verdict(run: Run, *why: str) -> Event | None:
    """What a batch system, a container engine or the kernel says about the end, if for one of these reasons."""
    return next((event for event in run.all("verdict") if event.get("why") in why), None)


def quoted(event: Event) -> Evidence:
    """The line of a bare log that says so."""
    return Evidence(f"line {event.get('at_line'):,}: “{str(event.get('text')).strip()[:200]}”", (event,))


def reported(run: Run, name: str) -> Evidence:
    """That the process ended by this signal: the operating system's word, or the line of the log that has it."""
    end = run.last("end")
    if end is not None and run.is_log:
        return quoted(end)
    return Evidence(f"the operating system reports {name}", (end,) if end else ())


def progress(run: Run) -> Evidence:
    """How far training had come, and what it was doing."""
    if run.is_log:
        return _progress_in_log(run)
    attached = run.last("attach")
    if attached is not None:
        return Evidence(attached.get("progress") or "how far training is can't be seen from outside", (attached,))
    if not run.training_seen:
        return Evidence("no training step had been seen yet")
    done = run.steps[-1].number if run.steps else 0
    told = f"{words.count(done, 'step')} {'was' if done == 1 else 'were'} complete" if done else "no step was complete"
    fit = run.fit
    if fit is not None and fit.asked:
        told += f", {fit.reached} of {words.count(fit.asked, 'epoch')}"
    doing = {"step": "in a training step", "validation": "in validation", "epoch-end": "at the end of an epoch"}
    if run.now is not None and run.now.phase in doing:
        told += f"; it was {doing[run.now.phase]}"
    return Evidence(told, (fit.began,) if fit else ())


def _progress_in_log(run: Run) -> Evidence:
    fit, last = run.fit, run.last("progress")
    if fit is None and last is None:
        return Evidence("the log shows no training progress")
    if fit is None or not fit.epochs:
        told = (
            f"a counter at {last.get('done'):,}" if last and last.get("done") is not None else "that training had begun"
        )
        return Evidence(f"the log shows {told}", (last,) if last else ())
    epoch = fit.epochs[-1]
    batches = f"{epoch.get('batches')} of {epoch.get('of')} batches" if epoch.get("of") else "some batches"
    told = f"epoch {int(epoch.get('epoch', 0)) + 1} of {fit.asked}, {batches}"
    return Evidence(f"the log shows {told}", (epoch,))


def saved(run: Run) -> list[Evidence]:
    """Where the model is, if it was saved before the end."""
    event = run.last("saved")
    if event is None:
        return []
    if event.get("path"):
        weights = "the weights were" if str(event.get("path")).endswith(".h5") else "the model was"
        return [Evidence(f"{weights} saved at step {event.get('step'):,}: {event.get('path')}", (event,))]
    return [Evidence(f"the model could not be saved before the end: {event.get('because')}", (event,))]


def went_on(run: Run, time: float) -> bool:
    """Whether training began anew after this moment and came to its end, or is at it still."""
    return run.last_trained > time


def target_place(run: Run) -> SourcePlace | None:
    """The line that last set the targets that fit was given; where that is not known, the one that trains."""
    return (run.fit.began.data.y_made_at if run.fit else None) or fit_place(run)


def fit_place(run: Run) -> SourcePlace | None:
    """The user's line that called fit."""
    return run.fit.began.where if run.fit else _loop_place(run)


def _loop_place(run: Run) -> SourcePlace | None:
    loop, attached = run.last(LoopSeen), run.last(Attached)
    where = attached.where if attached else None
    return where or ((loop.where or loop.function) if loop else None)


def reached_us(run: Run, name: str) -> Event | None:
    """A signal of this name that came to the supervisor."""
    return next((event for event in reversed(run.all("signal")) if event.get("signal") == name), None)


def stopped_by_us(run: Run) -> bool:
    """laststep ended it because it was stuck, as it had been told to."""
    return any(event.get("by") == "laststep" for event in run.all("signal"))


def sent_by_itself(run: Run, name: str) -> Event | None:
    """The program's own call that sent it this signal."""
    return next((event for event in reversed(run.all("signal-sent")) if event.get("signal") == name), None)


def sender(run: Run, name: str) -> Evidence | None:
    """Who sent the signal, where that is known."""
    own = sent_by_itself(run, name)
    if own is not None:
        return Evidence(f"the program sent {name} to itself, by {own.get('how')}", (own,))
    event = reached_us(run, name)
    if event is None:
        return None
    if event.get("by") == "terminal":
        return Evidence("it came from the terminal (Ctrl-C or Ctrl-\\)", (event,))
    who = event.get("sender") or {}
    name_of = f" ({who['name']})" if who.get("name") else ", which is gone"
    whom = "the whole process group" if event.get("to_group") else "the program"
    return Evidence(f"process {who.get('pid')}{name_of} sent {name} to {whom}", (event,))


def killed_with(run: Run, number: int, name: str) -> bool:
    """The process died of this signal, or a shell around it says so by its exit code."""
    return run.signal == name or (run.signal is None and run.exit_code == 128 + number and not run.has("exit-call"))


def missing_package(event: Event) -> Remedy | None:
    """The package to install, where the error says that an optional one of TensorFlow's or Keras's is not there."""
    if not str(event.get("type")).endswith("TBNotInstalledError"):
        return None
    return Remedy("Install TensorBoard: TensorFlow no longer brings it along, since 2.21", "pip install tensorboard")


def short_message(event: Event, most: int = 300) -> str:
    """An exception as its type and the part of its message that a person reads first."""
    kind = str(event.get("type", "?")).rsplit(".", 1)[-1]
    lines = [line.strip() for line in str(event.get("message", "")).splitlines()]
    begun = itertools.dropwhile(lambda line: not line or _NOISE.match(line), lines)
    telling = list(itertools.takewhile(lambda line: line and not _NOISE.match(line), begun))
    first = " ".join(telling[:3]) or " ".join(lines[:1])
    text = f"{kind}: {first}" if first else kind
    return text if len(text) <= most else text[: most - 1] + "…"


def traceback_on_console(run: Run) -> Event | None:
    """The traceback that was printed: what is left when nobody could look inside."""
    return next((event for event in story_of(run).events if event.kind == "exception" and _ended_it(event)), None)


def _ended_it(event: Event) -> bool:
    return event.get("left") == "program" and bool(event.get("frames"))


def place_of_fault(run: Run) -> Place | None:
    """The user's own line in the stack that faulthandler wrote, the dying thread first."""
    fault = run.last("fault")
    if fault is None:
        return None
    threads = sorted(fault.get("threads", []), key=lambda thread: not thread.get("current"))
    for thread in threads:
        where = users_line(thread["frames"])
        if where:
            return where
    return None
