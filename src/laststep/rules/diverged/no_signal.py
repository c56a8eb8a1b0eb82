"""The targets do not depend on the inputs."""

from __future__ import annotations

from laststep.analysis.batches import training_data
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, cannot, measured, no
from laststep.analysis.learning.answers import although
from laststep.analysis.learning.learning import (
    LEARNS,
    MAX_P_DEPENDENT,
    MIN_P_INDEPENDENT,
    Learning,
    dependence_of,
    is_dependent,
    is_independent,
    learning_of,
)
from laststep.analysis.learning.site import Site, last_site
from laststep.analysis.learning.weights import is_high_rate
from laststep.analysis.program import is_dataset, name_of_inputs, names_of_arrays
from laststep.analysis.progress import fit_place, target_place
from laststep.record.events.numbers import Dependence
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule
from laststep.text import format_value

MIN_BATCHES = 4


@rule(sees=("inside",))
def no_signal(run: Run) -> Answer:
    """The inputs carry no information about the targets: the fault is in the data, not in the model.

    What happened
        Inputs and targets were shuffled separately or read in different orders, or the targets are still placeholders;
        or preprocessing made all inputs the same. Then there is nothing to learn: the best that any model can do is a
        constant prediction.

    How laststep knows
        The inputs of all sampled steps have one and the same value; or a permutation test on a sample of the training
        data finds no dependence of the targets on the inputs (p of 0.1 or more; from 0.02 to 0.1 it is only POSSIBLE),
        and the model does no better than a constant prediction although its weights change.

    What to do
        Print a few inputs next to their targets, right before fit. Shuffle inputs and targets in the same order; in
        tf.data, zip before shuffle.

    Not to be confused with
        learning-rate-too-low, dead-activations, bad-labels-for-loss; a weak signal, which needs more data.
    """
    site = last_site(run)
    if site is None:
        return no("no gradients were recorded")
    learning = learning_of(run)
    same = _all_the_same(site)
    if same is not None and learning.verdict != LEARNS:
        cause = "The inputs are the same for every sample: nothing can be learned from them."
        return _finding(run, cause, Evidence(same, site.batches[-1:]), learning, Confidence.CERTAIN)
    test = dependence_of(run)
    if test is None:
        return cannot("too short to tell whether targets depend on inputs: they were not tested")
    if is_dependent(test):
        return measured(f"the targets depend on the inputs (p = {test.p:.2g} in {test.rows:,} rows)")
    if not (learning.fails or learning.validation_fails):
        return although(learning, "a test found no dependence of the targets on the inputs")
    if any(is_high_rate(site, site.rate(reading)) for reading in site.readings):
        return no("a learning rate far above the default explains the flat loss, too")
    return _by_test(run, test, learning)


def _by_test(run: Run, test: Dependence, learning: Learning) -> Finding:
    on_rows = f"a permutation test on {test.rows:,} rows"
    if is_independent(test):
        cause = "The targets do not depend on the inputs: there is nothing to learn."
        says = f"{on_rows} finds no dependence of the targets on the inputs (p = {test.p:.2f})"
        return _finding(run, cause, Evidence(says, (test,)), learning, Confidence.LIKELY)
    cause = "The targets may not depend on the inputs: a test finds a weak dependence at best."
    says = f"{on_rows} is inconclusive: p = {test.p:.2g}, where up to {MAX_P_DEPENDENT:g}"
    says += f" means dependence and {MIN_P_INDEPENDENT:g} or more none"
    return _finding(run, cause, Evidence(says, (test,)), learning, Confidence.POSSIBLE)


def _all_the_same(site: Site) -> str | None:
    """Every input has one value over all sampled batches."""
    ranges = [(seen.low, seen.high) for seen in site.inputs.values()]
    batches = site.batches[-1].batches if site.batches else 0
    if not ranges or batches < MIN_BATCHES or any(low is None or low != high for low, high in ranges):
        return None
    return f"in {batches:,} sampled batches, every value of the inputs is {format_value(ranges[0][0])}"


def _finding(run: Run, cause: str, seen: Evidence, learning: Learning, confidence: Confidence) -> Finding:
    does = "Compare a few inputs with their targets, as fit gets them"
    made_up = {"targets": "made up", "says": "Targets computed from the inputs instead of the given ones"}
    trial = None if confidence is Confidence.CERTAIN else made_up
    return Finding(
        cause=cause,
        confidence=confidence,
        evidence=(seen, *learning.evidence),
        remedies=(Remedy(does, _show(run), fit_place(run), safe=True, trial=trial),),
        where=target_place(run),
    )


def _show(run: Run) -> str | None:
    names, data = names_of_arrays(run), name_of_inputs(run)
    if names is not None:
        return f"print({names[0]}[:3], {names[1]}[:3])"
    return f"print(next(iter({data})))" if data and is_dataset(training_data(run)) else None
