"""The targets do not depend on the inputs."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.learning import LEARNS, Learning, depend, dependence_of, learning_of
from laststep.analysis.learning.site import Site, last_site
from laststep.analysis.learning.weights import is_high
from laststep.analysis.progress import fit_place, target_place
from laststep.record.run import Run
from laststep.record.torn import numbers
from laststep.rules.rule import Answer, rule

FEWEST_BATCHES = 4


@rule(needs=("recorder",), outranks=("loss-not-improving",))
def no_signal(run: Run) -> Answer:
    """Nothing in the inputs tells the targets: the model is fine, the data is not.

    What happened
        Inputs and targets were shuffled apart, read in different orders, or the targets are still placeholders; or the
        inputs are all the same because a step of the preparation wiped them out. There is nothing to learn then: the
        best that any model can do is to always say the same.

    How laststep knows
        The inputs of all steps looked at have one and the same value; or, in a sample of the training data, targets
        dealt out at random fit the inputs as well as the real ones, and the model, whose weights move, does no better
        than a constant answer.

    What to do
        Print a few inputs beside their targets, right before fit. Shuffle inputs and targets with one and the same
        order; zip before shuffle in tf.data.

    Not to be confused with
        learning-rate-too-low, dead-activations, bad-labels-for-loss; a weak signal, which needs more data.
    """
    site = last_site(run)
    if site is None:
        return no("no gradients were seen")
    learning = learning_of(run)
    same = _all_the_same(site)
    if same is not None and learning.verdict != LEARNS:
        return _finding(run, "The inputs are the same for every sample: nothing can be learned from them.",
                        Evidence(same, site.batches[-1:]), learning, True)  # fmt: skip
    test = dependence_of(run)
    if test is None:
        return no("whether targets depend on inputs was not tested")
    if depend(test):
        return measured(f"the targets depend on the inputs (p = {test.get('p'):.2g} in {test.get('rows'):,} rows)")
    if not (learning.fails or learning.held_out_fails):
        return no("the model learns")
    if any(is_high(site, site.rate(look)) for look in site.looks):
        return no("the learning rate is far above the usual: what depends on what is only a first guess")
    says = f"among {test.get('rows'):,} rows, shuffled targets fit the inputs as well as the real ones"
    cause = "The targets do not depend on the inputs: there is nothing to learn."
    return _finding(run, cause, Evidence(f"{says} (p = {test.get('p'):.2f})", (test,)), learning, False)


def _all_the_same(site: Site) -> str | None:
    """Every input has one value over all batches looked at."""
    ranges = [numbers(told, "low", "high") for told in site.inputs.values()]
    batches = site.batches[-1].raw["batches"] if site.batches else 0
    if not ranges or batches < FEWEST_BATCHES or any(low != high for low, high in ranges):
        return None
    return f"in {batches:,} batches looked at, every value of the inputs is {words.value(ranges[0][0])}"


def _finding(run: Run, cause: str, seen: Evidence, learning: Learning, sure: bool) -> Finding:
    does = "Look at a few inputs beside their targets, as fit gets them"
    trial = {"targets": "made up", "says": "Targets made up out of the inputs in place of the given ones"}
    return Finding(
        cause=cause,
        confidence=Confidence.CERTAIN if sure else Confidence.LIKELY,
        evidence=(seen, *learning.evidence),
        remedies=(Remedy(does, "print(x[:3], y[:3])", fit_place(run), safe=True, trial=None if sure else trial),),
        where=target_place(run),
    )
