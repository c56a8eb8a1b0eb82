"""Threads or processes wait for each other."""

from __future__ import annotations

from laststep.analysis.finding import Finding, Remedy, no
from laststep.analysis.hang import how_sure
from laststep.analysis.progress import progress
from laststep.analysis.stacks import ThreadView
from laststep.analysis.stall import deadlock, never_stuck, position, since, stuck, used
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_place


@rule(tier=Tier.ROOT, sees=("inside", "attached"))
def deadlocked(run: Run) -> Answer:
    """Threads or processes wait for each other, and none can continue.

    What happened
        Two threads each hold a lock that the other needs (two locks acquired in opposite order). Or a child process
        was forked while another thread held a lock, and the child's copy of that lock is never released. Or a task
        waits for a free worker of the pool in which it runs itself. Or all threads wait for a queue that none fills.

    How laststep knows
        There was no progress for far longer than before, no CPU time was used, and in the stacks each thread waits
        for a lock, a queue or a result, while no other thread of the program is running. Both stacks are shown.

    What to do
        Acquire locks in the same order everywhere. Start worker processes before TensorFlow is used, or with the
        start method "spawn". Do not wait inside a pool for another task of that pool.

    Not to be confused with
        input-blocked (one side waits for data, the other side is dead or outside), python-blocked (the main thread
        waits for something that is not a thread).
    """
    view = stuck(run, "deadlocked")
    if view is None:
        return no(never_stuck(run))
    waiting = deadlock(view)
    names = ("the main thread" if name == "MainThread" else name for name, _ in waiting)
    stacks = tuple(position(view, thread, name) for name, (_, thread) in zip(names, waiting, strict=True))
    return Finding(
        cause=_cause(waiting),
        confidence=how_sure(view),
        evidence=(since(view), *stacks, used(view), progress(run)),
        remedies=(_remedy(waiting),),
        where=waiting[0][1].place,
    )


def _cause(waiting: list[tuple[str, ThreadView]]) -> str:
    places = " and ".join(format_place(thread.place) for _, thread in waiting[:2] if thread.place)
    if len(waiting) == 1:
        return f"The main thread waits at {places}, but no other thread is running that could release it."
    name, last = waiting[-1]
    if "child" in name:
        what = "this process to read its output" if last.call == "write" else "a lock that no thread in it holds"
        return f"This process waits for a child process, which waits for {what}: {places}."
    return f"Threads wait for each other: {places}."


def _remedy(waiting: list[tuple[str, ThreadView]]) -> Remedy:
    place, (name, last) = waiting[0][1].place, waiting[-1]
    if last.call == "write":
        return Remedy("Read the child's output while waiting for it: process.communicate()", None, place, safe=True)
    if "child" in name:
        does = "Start the worker processes with spawn instead of fork, or before TensorFlow starts its threads"
        return Remedy(does, 'multiprocessing.set_start_method("spawn")', place, safe=True)
    kinds = {thread.waits_for for _, thread in waiting}
    if "future" in kinds or "pool" in kinds:
        return Remedy("Do not wait inside a pool for a task of the same pool", None, place, safe=True)
    does = "Acquire the locks in the same order in all threads, or release one before acquiring the next"
    if "queue.join" in kinds:
        does = "Call task_done() for every item taken from the queue, even when handling it fails"
    return Remedy(does, None, place)
