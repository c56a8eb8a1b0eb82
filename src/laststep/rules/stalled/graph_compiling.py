"""Tracing or compiling: slow, not stuck."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.progress import fit_place
from laststep.analysis.stacks import SnapshotView
from laststep.analysis.stall import DEATHS, SEEN, last_snapshot, used
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(needs=(SEEN,), outranks=DEATHS)
def graph_compiling(run: Run) -> Answer:
    """TensorFlow traces or compiles: this is slow, but it is not stuck.

    What happened
        Before the first step (and again for each new shape) TensorFlow turns the Python code into a graph and, with
        jit_compile=True, compiles it. For a large or unrolled model this takes minutes, in which nothing is printed.

    How laststep knows
        The main thread's stack is inside TensorFlow's tracing; or it computes inside the first call of a compiled
        step, with the processor busy and no data waited for.

    What to do
        Wait. To make it shorter: keep Python loops out of the model (each turn is traced by itself), use fewer
        different shapes, or switch jit_compile off.

    Not to be confused with
        retracing (it happens again and again), input-blocked (it waits for data). Too little GPU memory under XLA:
        TensorFlow then asks its allocator again every 10 s, for minutes, and prints nothing, while neither processor
        nor card works. With jit_compile=False it fails at once, and says what it lacks.
    """
    view = last_snapshot(run)
    if view is None:
        return no("no step is being traced or compiled now")
    first = view.phase in ("first step", "trace", "")
    compiling = first and view.doing == "execute" and not view.idle and not view.waiting
    if view.doing != "trace" and not compiling:
        return no("it was looked at while it did not move, and it did not trace or compile")
    jit = bool(run.fit and run.fit.began.jit_compile)
    what = "compiles the step" if jit else "builds or computes the first step"
    if view.doing == "trace":
        what = "traces the model"
    lasted = words.span(view.seconds)
    lasted = f"at least {lasted}" if view.snapshot.watched else f"{lasted} so far"
    return Finding(
        cause=f"TensorFlow {what}: slow, not stuck ({lasted}).",
        confidence=Confidence.LIKELY if view.doing == "trace" or jit else Confidence.POSSIBLE,
        evidence=(Evidence(_stack(view), (view.snapshot,)), used(view)),
        remedies=(Remedy("Wait: it ends by itself"), *_without_xla(jit)),
        where=fit_place(run),
    )


def _without_xla(jit: bool) -> tuple[Remedy, ...]:
    return (Remedy("Or compile without XLA", "jit_compile=False"),) if jit else ()


def _stack(view: SnapshotView) -> str:
    if view.doing == "trace":
        return "the main thread is inside TensorFlow's tracing"
    return "the main thread is inside TensorFlow's call of the first step, which does not wait for data"
