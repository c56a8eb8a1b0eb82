"""The targets do not depend on the inputs."""

from __future__ import annotations

from laststep.event import Event
from laststep.finding import Confidence, Evidence, Finding, Remedy
from laststep.reports import words
from laststep.rule import Answer, rule
from laststep.rules._shared import fit_place, measured, no, target_place
from laststep.rules.diverged._learning import LEARNS, Learning, learning_of
from laststep.rules.diverged._outputs import Site, last_site, number
from laststep.run import Run

FEWEST_ROWS = 200  # with fewer a weak dependence is not found
FEWEST_BATCHES = 4
BY_CHANCE = 0.02  # a p above it: what was found is what shuffled targets give too


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
                        Evidence(same, tuple(each for each in (site.batch,) if each)), learning, True)  # fmt: skip
    test = _test(run)
    if test is None:
        return no("whether targets depend on inputs was not tested")
    if test.get("p") <= BY_CHANCE:
        return measured(f"the targets depend on the inputs (p = {test.get('p'):.2g} in {test.get('rows'):,} rows)")
    if not (learning.fails or learning.held_out_fails):
        return no("the model learns")
    says = f"among {test.get('rows'):,} rows, shuffled targets fit the inputs as well as the real ones"
    cause = "The targets do not depend on the inputs: there is nothing to learn."
    return _finding(run, cause, Evidence(f"{says} (p = {test.get('p'):.2f})", (test,)), learning, False)


def _all_the_same(site: Site) -> str | None:
    """Every input has one value over all batches looked at."""
    inputs = {name: told for name, told in site.tensors.items() if name == "x" or name.startswith("x/")}
    ranges = [(number(told, "low"), number(told, "high")) for told in inputs.values()]
    batches = site.batch.get("batches") if site.batch is not None else 0
    if not ranges or not isinstance(batches, int) or batches < FEWEST_BATCHES:
        return None
    if any(low is None or low != high for low, high in ranges):
        return None
    return f"in {batches:,} batches looked at, every value of the inputs is {words.value(ranges[0][0])}"


def _test(run: Run) -> Event | None:
    """The test of dependence, where it was made on enough rows."""
    told = [event for event in run.all("dependence") if number(event.data, "p") is not None]
    return next((event for event in reversed(told) if (number(event.data, "rows") or 0) >= FEWEST_ROWS), None)


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
