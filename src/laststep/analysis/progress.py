"""What several rules say: how far it came, who sent the signal, memory over time, the user's line in a stack."""

from __future__ import annotations

import itertools
import re

from laststep import text as words
from laststep.analysis.finding import Evidence, Remedy, RuledOut, Unchecked
from laststep.logs.read import story_of
from laststep.record.events.logs import Progress
from laststep.record.events.process import ExitCall, Raised, SignalSent
from laststep.record.events.shared import users_line
from laststep.record.events.stacks import Attached
from laststep.record.events.supervisor import Fault, ProcessEnd, SignalReceived, Verdict
from laststep.record.events.training import LoopSeen, Saved, Stop
from laststep.record.place import Place
from laststep.record.run import Run

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


def verdict(run: Run, *why: str) -> Verdict | None:
    """What a batch system, a container engine or the kernel says about the end, if for one of these reasons."""
    return next((event for event in run.all(Verdict) if event.why in why), None)


def quoted(event: Verdict | ProcessEnd | Stop) -> Evidence:
    """The line of a bare log that says so."""
    return Evidence(f"line {event.at_line or 0:,}: “{event.text.strip()[:200]}”", (event,))


def reported(run: Run, name: str) -> Evidence:
    """That the process ended by this signal: the operating system's word, or the line of the log that has it."""
    end = run.last(ProcessEnd)
    if end is not None and run.is_log:
        return quoted(end)
    return Evidence(f"the operating system reports {name}", (end,) if end else ())


def progress(run: Run) -> Evidence:
    """How far training had come, and what it was doing."""
    if run.is_log:
        return _progress_in_log(run)
    attached = run.last(Attached)
    if attached is not None:
        return Evidence(attached.progress or "how far training is can't be seen from outside", (attached,))
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
    fit, last = run.fit, run.last(Progress)
    if fit is None and last is None:
        return Evidence("the log shows no training progress")
    if fit is None or not fit.epochs:
        told = f"a counter at {last.done:,}" if last and last.done is not None else "that training had begun"
        return Evidence(f"the log shows {told}", (last,) if last else ())
    epoch = fit.epochs[-1]
    batches = f"{epoch.batches} of {epoch.of} batches" if epoch.of else "some batches"
    told = f"epoch {epoch.epoch + 1} of {fit.asked}, {batches}"
    return Evidence(f"the log shows {told}", (epoch,))


def saved(run: Run) -> list[Evidence]:
    """Where the model is, if it was saved before the end."""
    event = run.last(Saved)
    if event is None:
        return []
    if event.path:
        weights = "the weights were" if event.path.endswith(".h5") else "the model was"
        return [Evidence(f"{weights} saved at step {event.step:,}: {event.path}", (event,))]
    return [Evidence(f"the model could not be saved before the end: {event.because}", (event,))]


def went_on(run: Run, time: float) -> bool:
    """Whether training began anew after this moment and came to its end, or is at it still."""
    return run.last_trained > time


def target_place(run: Run) -> Place | None:
    """The line that last set the targets that fit was given; where that is not known, the one that trains."""
    return (run.fit.began.data.y_made_at if run.fit else None) or fit_place(run)


def fit_place(run: Run) -> Place | None:
    """The user's line that called fit."""
    return run.fit.began.where if run.fit else _loop_place(run)


def _loop_place(run: Run) -> Place | None:
    loop, attached = run.last(LoopSeen), run.last(Attached)
    where = attached.where if attached else None
    return where or ((loop.where or loop.function) if loop else None)


def reached_us(run: Run, name: str) -> SignalReceived | None:
    """A signal of this name that came to the supervisor."""
    return next((event for event in reversed(run.all(SignalReceived)) if event.signal == name), None)


def stopped_by_us(run: Run) -> bool:
    """laststep ended it because it was stuck, as it had been told to."""
    return any(event.by == "laststep" for event in run.all(SignalReceived))


def sent_by_itself(run: Run, name: str) -> SignalSent | None:
    """The program's own call that sent it this signal."""
    return next((event for event in reversed(run.all(SignalSent)) if event.signal == name), None)


def sender(run: Run, name: str) -> Evidence | None:
    """Who sent the signal, where that is known."""
    own = sent_by_itself(run, name)
    if own is not None:
        return Evidence(f"the program sent {name} to itself, by {own.how}", (own,))
    event = reached_us(run, name)
    if event is None:
        return None
    if event.by == "terminal":
        return Evidence("it came from the terminal (Ctrl-C or Ctrl-\\)", (event,))
    who = event.sender
    name_of = f" ({who.name})" if who and who.name else ", which is gone"
    whom = "the whole process group" if event.to_group else "the program"
    return Evidence(f"process {who.pid if who else None}{name_of} sent {name} to {whom}", (event,))


def killed_with(run: Run, number: int, name: str) -> bool:
    """The process died of this signal, or a shell around it says so by its exit code."""
    return run.signal == name or (run.signal is None and run.exit_code == 128 + number and not run.has(ExitCall))


def missing_package(event: Raised) -> Remedy | None:
    """The package to install, where the error says that an optional one of TensorFlow's or Keras's is not there."""
    if not event.type.endswith("TBNotInstalledError"):
        return None
    return Remedy("Install TensorBoard: TensorFlow no longer brings it along, since 2.21", "pip install tensorboard")


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
    """The traceback that was printed: what is left when nobody could look inside."""
    return next((event for event in story_of(run).events if isinstance(event, Raised) and _ended_it(event)), None)


def _ended_it(event: Raised) -> bool:
    return event.left == "program" and bool(event.frames)


def place_of_fault(run: Run) -> Place | None:
    """The user's own line in the stack that faulthandler wrote, the dying thread first."""
    fault = run.last(Fault)
    threads = sorted(fault.threads, key=lambda thread: not thread.current) if fault else []
    return next((where for thread in threads if (where := users_line(thread.frames))), None)
