"""Threads or processes wait for each other."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.finding import Confidence, Finding, Remedy, no
from laststep.analysis.progress import progress
from laststep.analysis.stacks import ThreadView
from laststep.analysis.stall import DEATHS, SEEN, deadlock, never_stuck, since, standing, stuck, used
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(needs=(SEEN,), outranks=(*DEATHS, "input-blocked", "callback-blocked", "python-blocked"))
def deadlocked(run: Run) -> Answer:
    """Threads or processes wait for each other, and none can go on.

    What happened
        Two threads each hold what the other wants (two locks taken in opposite order); or a child process was forked
        while another thread held a lock, and the copy of that lock in the child is never released; or a task waits for
        a place in the pool in which it runs itself; or everybody waits for a queue that nobody fills.

    How laststep knows
        Nothing moved for far longer than before, no processor time was used, and the stacks show each of them
        waiting for a lock, a queue or a result, with nobody of the program's own left running. Both stacks are shown.

    What to do
        Take locks in one order everywhere. Start worker processes before TensorFlow is used, or with the method
        "spawn". Do not wait inside a pool for another task of that pool.

    Not to be confused with
        input-blocked (one side waits for data, the other side is dead or outside), python-blocked (the main thread
        waits for something that is no thread).
    """
    view = stuck(run, "deadlocked")
    if view is None:
        return no(never_stuck(run))
    who = deadlock(view)
    stacks = tuple(standing(view, thread, name if name != "MainThread" else "the main thread") for name, thread in who)
    return Finding(
        cause=_cause(who),
        confidence=Confidence.LIKELY,
        evidence=(since(view), *stacks, used(view), progress(run)),
        remedies=(_remedy(who),),
        where=who[0][1].place,
    )


def _cause(who: list[tuple[str, ThreadView]]) -> str:
    places = " and ".join(words.place(thread.place) for _, thread in who[:2] if thread.place)
    if len(who) == 1:
        return f"The main thread waits at {places} for what nobody is left to give."
    if "child" in who[-1][0]:
        what = "this process to read what it writes" if who[-1][1].call == "write" else "a lock that nobody in it holds"
        return f"This process waits for a child process, which waits for {what}: {places}."
    return f"Threads wait for each other: {places}."


def _remedy(who: list[tuple[str, ThreadView]]) -> Remedy:
    if who[-1][1].call == "write":
        return Remedy("Read the child's output while you wait: process.communicate()", None, who[0][1].place, safe=True)
    if "child" in who[-1][0]:
        does = "Start the worker processes with spawn instead of fork, or before TensorFlow starts its threads"
        return Remedy(does, 'multiprocessing.get_context("spawn").Pool(4)', who[0][1].place, safe=True)
    kinds = {thread.waits_for for _, thread in who}
    if "future" in kinds or "pool" in kinds:
        return Remedy("Do not wait inside a pool for a task of the same pool", None, who[0][1].place, safe=True)
    does = "Take the locks in the same order in all threads, or let go of one before taking the next"
    if "queue.join" in kinds:
        does = "Call task_done() for each item that was taken, also when handling it failed"
    return Remedy(does, None, who[0][1].place)
