"""A step waits for data that never comes."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.messages import short_message
from laststep.analysis.progress import fit_place, progress
from laststep.analysis.stacks import SnapshotView
from laststep.analysis.stall import DEATHS, SEEN, never_stuck, since, standing, stuck, used
from laststep.record.events.process import Raised
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(needs=(SEEN,), outranks=(*DEATHS, "input-starved", "unhandled-exception"))
def input_blocked(run: Run) -> Answer:
    """A training step waits for data that never comes.

    What happened
        Training asked its input for the next batch, and the input does not deliver: a generator waits on a queue
        whose producer is dead, a download or a file system does not answer, a pipe has no writer, a worker process
        hangs, or a filter lets nothing through.

    How laststep knows
        No step was complete for far longer than any before. A mark around the taking of the batch says that it is
        the data that is waited for, not the computation; the stacks of all threads show the line of the generator
        or the file, the pipe or the peer that a thread of the pipeline is blocked in.

    What to do
        Look at the line shown. Give every wait a timeout (queue.get(timeout=60), requests.get(url, timeout=30)), and
        let an error in a producer thread reach the consumer (put the exception into the queue).

    Not to be confused with
        input-starved (data comes, but slowly), shuffle-buffer-filling (the buffer is being filled), deadlocked (the
        producer and the consumer wait for each other).
    """
    view = stuck(run, "input-blocked")
    if view is None:
        return no(never_stuck(run))
    feeder = view.blocked
    place = feeder.place if feeder.place is not None and feeder is not view.main else _in_main(view)
    evidence = [since(view)]
    if place is not None:
        who = "the program's own code in the input pipeline" if feeder is not view.main else "the training loop"
        evidence.append(standing(view, feeder, who))
    native = _native(view)
    if native is not None:
        evidence.append(native)
    evidence += _dead_threads(run)
    evidence += [*_marked(view), used(view), progress(run)]
    return Finding(
        cause=_cause(view, place, native),
        confidence=Confidence.LIKELY,
        evidence=tuple(evidence),
        remedies=tuple(_remedies(view)),
        where=place or fit_place(run),
    )


def _in_main(view: SnapshotView) -> Place | None:
    """A hand-written loop: the user's line inside the iterator, not the loop's own."""
    return view.main.place if view.main.runs("iterator_ops.py") or not view.main.has("quick_execute") else None


def _cause(view: SnapshotView, place: Place | None, native: Evidence | None) -> str:
    if place is not None and (view.blocked is not view.main or view.idle):
        return f"Training waits for data: the input pipeline is stuck in {words.place(place)}."
    if native is not None:
        return f"Training waits for data: {native.says}."
    busy = " The pipeline works all the while, but nothing comes out of it." if not view.idle else ""
    return f"Training waits for a batch that does not come.{busy}"


def _native(view: SnapshotView) -> Evidence | None:
    task = next((task for task in view.snapshot.native if task.on), None)
    if task is None:
        return None
    call = {"open": "opening", "read": "reading", "recv": "receiving from"}.get(task.call, "using")
    return Evidence(f"a thread of TensorFlow's pipeline is blocked {call} {task.on}", (view.snapshot,))


def _dead_threads(run: Run) -> list[Evidence]:
    """A producer that died of an error leaves its consumer waiting."""
    return [
        Evidence(f"a thread died before of {short_message(error, 120)} at {words.place(error.where)}", (error,))
        for error in run.all(Raised)
        if error.left == "thread"
    ][:2]


def _marked(view: SnapshotView) -> list[Evidence]:
    if not view.waiting:
        return []
    return [Evidence(f"the step has been waiting for its batch for {words.span(view.waiting)}", (view.snapshot,))]


def _remedies(view: SnapshotView) -> list[Remedy]:
    feeder = view.blocked
    if feeder.waits_for == "queue":
        does = "Give the wait a timeout, and put a producer's exception into the queue so that it is seen"
        return [Remedy(does, "item = q.get(timeout=60)", feeder.place, safe=True)]
    if feeder.on.startswith("socket"):
        return [Remedy("Give the request a timeout and try again when it is over", None, feeder.place, safe=True)]
    if not view.idle:
        return [Remedy("See whether anything passes: next(iter(dataset)) stage by stage; a filter may drop all")]
    does = "Make the wait at this line end: a timeout, or an error when the other side is gone"
    return [Remedy(does, None, feeder.place)]
