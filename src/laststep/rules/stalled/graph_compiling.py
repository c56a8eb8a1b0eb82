"""TensorFlow is tracing or compiling: slow, not stuck."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.progress import fit_place
from laststep.analysis.stacks import SnapshotView
from laststep.analysis.stall import last_snapshot, used
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule
from laststep.text import format_duration


@rule(sees=("inside", "attached"))
def graph_compiling(run: Run) -> Answer:
    """TensorFlow is tracing or compiling: this is slow, but it is not stuck.

    What happened
        Before the first step (and again for each new shape) TensorFlow turns the Python code into a graph and, with
        jit_compile=True, compiles it. For a large or unrolled model this takes minutes, and prints nothing.

    How laststep knows
        The main thread's stack is inside TensorFlow's tracing. Or it is inside the first call of a compiled step, the
        CPU is busy, and the step does not wait for data.

    What to do
        Wait. To make it shorter: keep Python loops out of the model (every iteration is traced), use fewer different
        shapes, or set jit_compile=False.

    Not to be confused with
        retracing (it happens again and again), input-blocked (it waits for data). Too little GPU memory under XLA:
        TensorFlow then retries the allocation every 10 s for minutes and prints nothing, while CPU and GPU are idle.
        With jit_compile=False it fails at once, and the error shows how much memory is missing.
    """
    view = last_snapshot(run)
    if view is None:
        return no("no step is being traced or compiled now")
    first = view.phase in ("first step", "trace", "")
    compiling = first and view.doing == "execute" and not view.idle and not view.waiting
    if view.doing != "trace" and not compiling:
        return no("the last snapshot shows no tracing or compiling")
    jit = bool(run.fit and run.fit.began.jit_compile)
    what = "is compiling the step" if jit else "is building or running the first step"
    if view.doing == "trace":
        what = "is tracing the model"
    lasted = format_duration(view.seconds)
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
    return "the main thread is inside TensorFlow's call of the first step, which is not waiting for data"
