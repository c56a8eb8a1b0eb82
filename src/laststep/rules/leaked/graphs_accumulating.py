"""New functions, graphs or models are created, and none is freed."""

from __future__ import annotations

import re

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy
from laststep.analysis.leaks import Leak, exhaustion_evidence, growth_evidence, leak_of
from laststep.analysis.no_leak import no_leak
from laststep.analysis.progress import fit_place, saved
from laststep.record.events.training import Trace
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_count

MIN_NEW_MODELS = 5  # fitted for the first time
MIN_TRACES = 5  # of one function


@rule(tier=Tier.ROOT, sees=("inside",), follows=("retracing",))
def graphs_accumulating(run: Run) -> Answer:
    """TensorFlow builds new graphs again and again and keeps each one: a model or a tf.function is created in a loop.

    What happened
        Each model that is compiled and trained gets its own graph, and so does each new kind of call of a tf.function
        (another Python number, another shape). TensorFlow keeps them all: building a model in a loop costs about
        15 MB per iteration, with clear_session() too.

    How laststep knows
        Memory rose steadily, and the number of live graphs rose with it; it is counted at each trace. The traces show
        which function was retraced, and because of which argument.

    What to do
        Build the model once and reset its weights, or build each model in its own process. Pass tensors to a
        tf.function, not Python numbers, and create it once, outside the loop.

    Not to be confused with
        tensors-accumulating (results are kept, not graphs). Fitting one model many times leaks nothing.
    """
    leak = leak_of(run)
    if leak is None or not leak.is_reportable or not leak.is_of_graphs:
        return no_leak(run, leak, "no graphs accumulate")
    retraced = _most_retraced(run)
    new_models = sum(bool(fit.began.new_model) for fit in run.fits)
    if new_models >= MIN_NEW_MODELS and retraced is None:
        return _models(run, leak, new_models)
    return _functions(run, leak, retraced)


def _graphs(leak: Leak) -> Evidence:
    first, last = leak.graphs
    steps = format_count(last.step - first.step, "step")
    return Evidence(f"{format_count(leak.more_graphs, 'more graph')} were alive {steps} later", leak.graphs)


def _models(run: Run, leak: Leak, new_models: int) -> Finding:
    made = (run.fit.began.model_made_at or run.fit.began.where) if run.fit else None
    at = f" at {_short(made)}" if made else ""
    return Finding(
        cause=f"A new model is built in every iteration of the loop{at}; TensorFlow keeps the graphs of all of them.",
        confidence=Confidence.LIKELY,
        evidence=(
            growth_evidence(leak),
            _graphs(leak),
            Evidence(f"{len(run.fits)} fits, {new_models} of them with a new model", (run.fits[-1].began,)),
            *exhaustion_evidence(run, leak),
            *saved(run),
        ),
        remedies=(
            Remedy(
                "Build and compile the model once, before the loop, and reset its weights in every iteration",
                "start = model.get_weights()   # before the loop\nmodel.set_weights(start)      # in every iteration",
                made,
            ),
            Remedy("Or train each model in its own process: its memory is freed when the process ends", safe=True),
            Remedy("Do not rely on clear_session(): in our measurements, memory grew as fast with it"),
        ),
        where=made or fit_place(run),
    )


def _functions(run: Run, leak: Leak, trace: Trace | None) -> Finding:
    called = (trace.where or trace.function) if trace else None
    why, traces = "tf.functions are created again and again", []
    remedy = Remedy("Create the tf.function once, outside the loop", None, called)
    if trace is not None:
        why = f"`{trace.name}()` is created and traced again and again"
        traces = [Evidence(f"it was traced {trace.number:,} times", (trace,))]
    if trace is not None and trace.changed:
        name, before, now = (re.sub(r"^Literal\[(.*)\]$", r"\1", part) for part in trace.changed[0])
        why = f"`{trace.name}()` is retraced for each value of `{name}`"
        traces.append(Evidence(f"`{name}` was {before}, then {now}", (trace,)))
        remedy = Remedy(f"Pass {name} as a tensor", f"tf.constant({name})", called)
    return Finding(
        cause=f"{why}, and TensorFlow keeps every graph.",
        confidence=Confidence.LIKELY,
        evidence=(growth_evidence(leak), _graphs(leak), *traces, *exhaustion_evidence(run, leak), *saved(run)),
        remedies=(remedy,),
        where=called or fit_place(run),
    )


def _most_retraced(run: Run) -> Trace | None:
    """The last trace of the user's own function that was traced most often."""
    own = [trace for trace in run.all(Trace) if trace.function and trace.number >= MIN_TRACES]
    return max(own, key=lambda trace: (trace.number, trace.time), default=None)


def _short(where: Place) -> str:
    return f"{where.file.rpartition('/')[2]}:{where.line}"
