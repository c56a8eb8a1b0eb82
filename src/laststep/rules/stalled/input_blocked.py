"""A step waits for data that never arrives."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.hang import how_sure
from laststep.analysis.messages import short_message
from laststep.analysis.pipeline import blamed_filter, dropped, handed_over, seen_at
from laststep.analysis.progress import fit_place, progress
from laststep.analysis.stacks import EXECUTE, ITERATOR, SnapshotView, most_seen
from laststep.analysis.stall import never_stuck, position, since, stuck, used
from laststep.record.events.process import Raised
from laststep.record.events.shared import Stage
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule
from laststep.text import format_duration, format_place

MAX_DEAD_THREADS = 2
CALLS = {"open": "opening", "read": "reading", "recv": "receiving from"}


@rule(sees=("inside", "attached"))
def input_blocked(run: Run) -> Answer:
    """A training step waits for data that never arrives.

    What happened
        Training requested the next batch, and the input pipeline does not deliver it: a generator waits on a queue
        whose producer is dead, a download or a file system does not respond, a pipe has no writer, a worker process
        hangs, a generator's loop never comes to its yield, or a filter drops every element.

    How laststep knows
        No step finished for far longer than any before. A time stamp before the fetch of the batch shows that the
        step waits for data and does not compute. The stacks of all threads show the line of the generator, or the
        file, pipe or peer in which a thread of the pipeline is blocked. How often the pipeline calls Python is
        counted: a generator that yields is slow and not stuck, unless a filter drops all that it yields.

    What to do
        Check the line shown. Give every wait a timeout (queue.get(timeout=60), requests.get(url, timeout=30)). Pass
        an error in a producer thread on to the consumer (put the exception into the queue). Let a loop that skips
        elements raise an error after too many of them.

    Not to be confused with
        input-starved (data arrives, but slowly), shuffle-buffer-filling (the buffer is being filled), deadlocked (the
        producer and the consumer wait for each other).
    """
    view = stuck(run, "input-blocked")
    if view is None:
        return no(never_stuck(run))
    dropping, place = blamed_filter(view, run), _place(view)
    evidence = [since(view)]
    if place is not None:
        name = "the program's own code in the input pipeline" if view.blocked is not view.main else "the training loop"
        evidence += [position(view, view.blocked, name), *seen_at(view)]
    native = _native(view)
    if native is not None:
        evidence.append(native)
    if dropping is not None:
        evidence.append(dropped(view, run))
    where = (dropping.called_at or dropping.where) if dropping is not None else place
    return Finding(
        cause=_cause(view, place, native, dropping),
        confidence=how_sure(view) if _is_measured(view) else Confidence.POSSIBLE,
        evidence=(*evidence, *handed_over(view), *_dead_threads(run), *_marked(view), used(view), progress(run)),
        remedies=tuple(_remedies(view, dropping, place)),
        where=where or place or fit_place(run),
    )


def _place(view: SnapshotView) -> Place | None:
    """The line of the pipeline's Python; of a loop the one that was seen most often."""
    if view.blocked is view.main or view.blocked.place is None:
        return _in_main(view)
    return most_seen(view.snapshot.lines) or view.blocked.place


def _in_main(view: SnapshotView) -> Place | None:
    """In a hand-written loop: the user's line inside the iterator, not that of the loop."""
    return view.main.place if view.main.runs(ITERATOR) or not view.main.has(EXECUTE) else None


def _is_measured(view: SnapshotView) -> bool:
    """Not where a pipeline without Python computes, and how long a batch takes is not known."""
    return view.idle or bool(view.snapshot.slowest or view.snapshot.calls or view.feeders) or view.snapshot.watched


def _cause(view: SnapshotView, place: Place | None, native: Evidence | None, dropping: Stage | None) -> str:
    if dropping is not None:
        drops = "drops all elements, or nearly all" if _is_measured(view) else "may drop every element"
        return f"Training waits for a batch that never arrives: the pipeline is busy, and a filter {drops}."
    if place is not None and view.blocked is not view.main and view.blocked.goes_on:
        return f"Training waits for data: the input pipeline keeps running at {format_place(place)} and yields nothing."
    if place is not None and (view.blocked is not view.main or view.idle):
        return f"Training waits for data: the input pipeline is stuck at {format_place(place)}."
    if native is not None:
        return f"Training waits for data: {native.says}."
    busy = " The pipeline is busy, but delivers nothing." if not view.idle else ""
    return f"Training waits for a batch that never arrives.{busy}"


def _native(view: SnapshotView) -> Evidence | None:
    task = next((task for task in view.snapshot.native if task.on), None)
    if task is None:
        return None
    call = CALLS.get(task.call, "using")
    return Evidence(f"a thread of TensorFlow's pipeline is blocked {call} {task.on}", (view.snapshot,))


def _dead_threads(run: Run) -> list[Evidence]:
    """A producer that died of an error leaves its consumer waiting."""
    died = [error for error in run.all(Raised) if error.left == "thread"]
    return [
        Evidence(f"a thread died earlier of {short_message(error, 120)} at {format_place(error.where)}", (error,))
        for error in died[:MAX_DEAD_THREADS]
    ]


def _marked(view: SnapshotView) -> list[Evidence]:
    if not view.waiting:
        return []
    return [Evidence(f"the step has waited for its batch for {format_duration(view.waiting)}", (view.snapshot,))]


def _remedies(view: SnapshotView, dropping: Stage | None, place: Place | None) -> list[Remedy]:
    feeder = view.blocked
    if dropping is not None:
        return _remedies_of_filter(dropping, after_repeat=not view.snapshot.calls)
    if feeder.waits_for == "queue":
        does = "Add a timeout, and put a producer's exception into the queue so that the consumer raises it"
        return [Remedy(does, "timeout=60", feeder.place, safe=True)]
    if feeder.on.startswith("socket"):
        return [Remedy("Set a timeout on the request, and retry", None, feeder.place, safe=True)]
    if feeder is not view.main and feeder.goes_on and not feeder.polls:
        does = "Correct the condition under which this loop yields; raise an error if it skips too much"
        return [Remedy(does, None, place)]
    if not view.idle:
        return [Remedy("Check each stage with next(iter(dataset)): a filter may drop every element")]
    does = "End the wait at this line: with a timeout, or with an error when the other side is gone"
    return [Remedy(does, None, feeder.place)]


def _remedies_of_filter(stage: Stage, after_repeat: bool) -> list[Remedy]:
    where = stage.called_at or stage.where
    found = [Remedy("Correct the filter's condition: print what it compares, for some elements", None, where)]
    if after_repeat:
        does = "Filter before repeat(): a filter that drops everything then ends the data, and nothing waits"
        found.append(Remedy(does, None, where))
    return found
