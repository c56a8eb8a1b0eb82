"""Functions, graphs or models are made anew and stay."""

from __future__ import annotations

import re

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy
from laststep.analysis.leaks import DEATHS, Leak, how_it_grew, how_long, is_graphs, keeps, leak_of, quiet
from laststep.analysis.progress import fit_place, saved
from laststep.record.events.training import Trace
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

AGAIN = 5  # traces of the same code


@rule(needs=("recorder",), outranks=(*DEATHS, "host-memory-growing", "input-starved"))
def graphs_accumulating(run: Run) -> Answer:
    """TensorFlow makes a new graph again and again, and keeps each: a model or a tf.function is made anew.

    What happened
        Each model that is compiled and trained gets a graph of its own, and each new kind of call of a tf.function
        (another Python number, another shape) as well. TensorFlow keeps them: building a model in a loop costs about
        15 MB a turn, also with clear_session().

    How laststep knows
        Memory rose steadily, and the number of graphs that are alive rose with it: it is counted at each trace. The
        traces say which function was traced again, and because of which argument.

    What to do
        Build the model once and set its weights back, or build each in a process of its own. Give a tf.function
        tensors, not Python numbers, and make it once, outside the loop.

    Not to be confused with
        tensors-accumulating (results are kept, not graphs). Fitting one model many times leaks nothing.
    """
    leak = leak_of(run)
    if leak is None or not keeps(leak) or not is_graphs(leak):
        return quiet(run, leak, "no graphs pile up")
    retraced = _retraced(run)
    models = _models_anew(run)
    if models >= AGAIN and retraced is None:
        return _models(run, leak, models)
    return _functions(run, leak, retraced)


def _graphs(leak: Leak) -> Evidence:
    first, last = leak.graphs
    steps = last.step - first.step
    return Evidence(f"{leak.more_graphs:,} more graphs were alive {steps:,} steps later", leak.graphs)


def _models(run: Run, leak: Leak, models: int) -> Finding:
    made = _made_at(run)
    told = f" at {_short(made)}" if made else ""
    return Finding(
        cause=f"A model is built in each turn of the loop{told}, and TensorFlow keeps the graphs of all of them.",
        confidence=Confidence.LIKELY,
        evidence=(
            how_it_grew(leak),
            _graphs(leak),
            Evidence(f"{len(run.fits)} fits, {models} of them with a model that was new", (run.fits[-1].began,)),
            *how_long(run, leak),
            *saved(run),
        ),
        remedies=(
            Remedy(
                "Build and compile the model once, before the loop, and set its weights back for each turn",
                "start = model.get_weights()   # before the loop\nmodel.set_weights(start)      # in it",
                made,
            ),
            Remedy("Or train each model in a process of its own: what it kept goes with it", safe=True),
            Remedy("clear_session() does not help: measured, memory grows the same with it"),
        ),
        where=made or fit_place(run),
    )


def _functions(run: Run, leak: Leak, trace: Trace | None) -> Finding:
    called = (trace.where or trace.function) if trace else None
    why, proof = "Functions are made anew", []
    remedy = Remedy("Make the tf.function once, outside the loop", None, called)
    if trace is not None:
        why = f"{trace.name}() is made anew and traced again and again"
        proof = [Evidence(f"it was traced {trace.number:,} times", (trace,))]
    if trace is not None and trace.changed:
        name, before, now = (re.sub(r"^Literal\[(.*)\]$", r"\1", part) for part in trace.changed[0])
        why = f"{trace.name}() is traced anew for each value of {name}"
        proof.append(Evidence(f"{name} was {before} and then {now}", (trace,)))
        remedy = Remedy(f"Pass {name} as a tensor", f"tf.constant({name})", called)
    return Finding(
        cause=f"{why}, and TensorFlow keeps each graph.",
        confidence=Confidence.LIKELY,
        evidence=(how_it_grew(leak), _graphs(leak), *proof, *how_long(run, leak), *saved(run)),
        remedies=(remedy,),
        where=called or fit_place(run),
    )


def _retraced(run: Run) -> Trace | None:
    """The last trace of the function of the user's own that was traced most often."""
    mine = [trace for trace in run.all(Trace) if trace.function and trace.number >= AGAIN]
    return max(mine, key=lambda trace: (trace.number, trace.time), default=None)


def _models_anew(run: Run) -> int:
    """How many models were fitted that had not been fitted before."""
    return sum(bool(fit.began.new_model) for fit in run.fits)


def _made_at(run: Run) -> Place | None:
    fit = run.fit
    return (fit.began.model_made_at or fit.began.where) if fit else None


def _short(where: Place) -> str:
    return f"{where.file.rpartition('/')[2]}:{where.line}"
