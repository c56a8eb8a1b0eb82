"""Gradients of the early layers are next to nothing."""

from __future__ import annotations

from laststep.analysis.finding import Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.learning import learning_of, steady_site, sureness
from laststep.analysis.learning.scale import reach
from laststep.analysis.learning.site import SYMPTOMS, Site, Told, tell
from laststep.analysis.learning.weights import activation_after, faint_in, place_of, pulls_of, usual
from laststep.analysis.progress import progress
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

SQUASHING = ("sigmoid", "tanh", "softsign", "hard_sigmoid", "hard_tanh")
RELU = Remedy(
    "Take relu (with he_normal) or another activation that does not flatten out",
    'activation="relu"',
    trial={"hidden": {"activation": "relu", "initializer": "he_normal", "from": ["sigmoid", "tanh"]}},
)
NORMALISE = Remedy("Put BatchNormalization between the layers, or connections that skip some of them")
SERIES = 15  # steps of time
LONG_MEMORY = Remedy("Take an LSTM or a GRU, which can keep a value over a long series", "keras.layers.LSTM(units)")
DRAW = Remedy("Draw the weights for the layer's size, as Keras does when not asked otherwise",
              'kernel_initializer="glorot_uniform"',
              trial={"hidden": {"initializer": "glorot_uniform"}})  # fmt: skip


@rule(needs=("recorder",), outranks=SYMPTOMS)
def vanishing_gradients(run: Run) -> Answer:
    """The gradients of the early layers are next to nothing, so that only the last layers learn.

    What happened
        On the way back through the model the gradient was multiplied again and again by something far below 1: the
        slope of a sigmoid is a quarter at most, weights may be drawn too small. The early layers stay as they were
        drawn, and the last ones see noise.

    How laststep knows
        The length of each layer's gradient, measured by its weights, over many steps; and a loss that is no better
        than one constant answer would give, or than at the start.

    What to do
        relu instead of sigmoid and tanh in hidden layers, normalisation between layers, skip connections; an LSTM or
        GRU instead of a SimpleRNN for long series.

    Not to be confused with
        dead-activations (gradients exactly 0), learning-rate-too-low (gradients are there, the steps are tiny), a model
        that has learnt all there is: its gradients are small everywhere and its loss is too.
    """
    site = steady_site(run)
    if site is None:
        return no("no training that could be judged by its gradients")
    forgetful = _forgets(site)
    if forgetful:
        return _through_time(run, site, forgetful)
    pulls = pulls_of(site, site.good)
    if len(pulls) < 3:
        return no("too few layers")
    most = max(pulls.values())
    faint = faint_in(pulls)
    first = next(iter(pulls))
    if first not in faint or not most:
        return measured(f"the first layer's gradient is {tell(pulls[first] / most if most else 0)} of the largest one")
    if not any(pulls[layer] > 0 for layer in faint) and not _squashes(site, faint):
        return no("the gradients are exactly 0")
    trouble = learning_of(run).trouble
    if trouble is None:
        return measured("the first layers' gradients are small, and it learns")
    return _finding(run, site, pulls, faint, trouble)


def _forgets(site: Site) -> str:
    """A recurrent layer over a long series, and a model that gives the same answer for each sample from the start."""
    guess = _first_guess(site)
    spreads = guess.get("column_stds", [])
    series = [shape for told in site.inputs.values() if len(shape := told.get("shape", [])) == 3]
    same = bool(spreads) and max(spreads) <= 1e-6 * reach(guess)
    if not same or not any(shape[1] >= SERIES for shape in series):
        return ""
    return next((layer for layer in site.looks[-1].raw["grads"] if "rnn" in layer.lower()), "")


def _first_guess(site: Site) -> Told:
    """The predictions for the first batch alone: how much they differ from sample to sample."""
    first = site.batches[0] if site.batches else None
    alone = first is not None and first.raw["batches"] == 1
    return dict(first.raw["tensors"].get("y_pred", {})) if first is not None and alone else {}


def _through_time(run: Run, site: Site, layer: str) -> Answer:
    trouble = learning_of(run).trouble
    if trouble is None:
        return measured("it learns")
    told = "in the first batch all samples got exactly the same answer: nothing of the series' beginning is left"
    return Finding(
        cause=f"The gradients vanish over time in {layer}: the end of the series is all that reaches the answer.",
        confidence=sureness(site),
        evidence=(trouble, Evidence(told, site.batches[:1]), progress(run)),
        remedies=(LONG_MEMORY, DRAW),
        where=place_of(site, layer),
    )


def _squashes(site: Site, layers: list[str]) -> bool:
    return any(activation_after(site, layer) in SQUASHING for layer in layers)


def _finding(run: Run, site: Site, pulls: dict[str, float], faint: list[str], trouble: Evidence) -> Finding:
    most, first, begins = max(pulls.values()), faint[0], faint[-1]
    last = next(reversed(pulls))
    told = f"from {last} back to {first} the gradient falls to {tell(pulls[first] / most)} of the largest"
    curve = tuple(pulls.values())
    small = [layer for layer in faint if 0 < site.looks[0].raw["weights"].get(layer, 0.0)
             < 0.5 * usual(site, layer)]  # fmt: skip
    remedies = (DRAW, NORMALISE) if small else (RELU, NORMALISE)
    return Finding(
        cause=f"The gradients vanish: {len(faint)} of {len(pulls)} layers, up to {begins}, hardly learn.",
        confidence=sureness(site),
        evidence=(trouble, Evidence(told, site.looks[-1:], curve), progress(run)),
        remedies=remedies,
        where=place_of(site, begins),
    )
