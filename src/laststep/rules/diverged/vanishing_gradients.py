"""Gradients of the early layers vanish."""

from __future__ import annotations

import dataclasses

from laststep.analysis.finding import Evidence, Finding, Remedy, measured, no
from laststep.analysis.learning.answers import although, no_finite_site
from laststep.analysis.learning.learning import confidence_of, finite_site, learning_of
from laststep.analysis.learning.scale import max_abs
from laststep.analysis.learning.site import UNSEEN, Site, compact, gradient_norms
from laststep.analysis.learning.weights import (
    activation_after,
    glorot_norm,
    layer_place,
    relative_gradients,
    vanishing_layers,
)
from laststep.analysis.progress import progress
from laststep.record.events.numbers import TensorStatistics
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule
from laststep.text import format_count

SATURATING = ("sigmoid", "tanh", "softsign", "hard_sigmoid", "hard_tanh")
MIN_LAYERS = 3
MIN_SEQUENCE_LENGTH = 15  # time steps
MAX_EQUAL_SPREAD = 1e-6  # of predictions that count as equal, as a share of the largest
MAX_SMALL_SCALE = 0.5  # of initial weights that are too small, as a share of the usual norm
USE_RELU = Remedy(
    "Use relu (with he_normal) or another activation that does not saturate",
    'activation="relu"',
    trial={"hidden": {"activation": "relu", "initializer": "he_normal", "from": ["sigmoid", "tanh"]}},
)
NORMALIZE = Remedy("Add BatchNormalization between the layers, or skip connections")
USE_LSTM = Remedy("Use an LSTM or GRU, which can keep a value over a long sequence", "keras.layers.LSTM(…)")
DEFAULT_INITIALIZER = Remedy("Use Keras's default initializer, which scales the weights to the layer's size",
                             'kernel_initializer="glorot_uniform"',
                             trial={"hidden": {"initializer": "glorot_uniform"}})  # fmt: skip
RECURRENT_INITIALIZER = Remedy("Use Keras's default initializer, which keeps the size of the state from step to step",
                               'recurrent_initializer="orthogonal"',
                               trial={"hidden": {"initializer": "glorot_uniform"}})  # fmt: skip


@rule(sees=("inside",))
def vanishing_gradients(run: Run) -> Answer:
    """The gradients of the early layers are almost 0, so that only the last layers learn.

    What happened
        During backpropagation the gradient was multiplied again and again by something far below 1: the derivative of a
        sigmoid is 0.25 at most, or the initial weights are too small. The early layers keep their random weights, so
        the last layers get noise as their input.

    How laststep knows
        From each layer's gradient norm relative to its weight norm, over many steps; and a loss that is no better than
        a constant prediction, or than at the start.

    What to do
        Use relu instead of sigmoid and tanh in hidden layers, normalization between layers, skip connections; an LSTM
        or GRU instead of a SimpleRNN for long sequences.

    Not to be confused with
        dead-activations (gradients of exactly 0), learning-rate-too-low (ordinary gradients, tiny updates), a model
        that has converged: its gradients are small everywhere, and so is its loss.
    """
    site = finite_site(run)
    if site is None:
        return no_finite_site(run)
    forgetful = _forgetful_layer(site)
    if forgetful:
        return _through_time(run, site, forgetful)
    gradients = relative_gradients(site, site.good)
    if len(gradients) < MIN_LAYERS:
        return no(f"only {format_count(len(gradients), 'layer')} with gradients")
    largest, first = max(gradients.values()), next(iter(gradients))
    vanishing = vanishing_layers(gradients)
    if first not in vanishing or not largest:
        share = gradients[first] / largest if largest else 0
        return measured(f"the first layer's gradient is {compact(share)} of the largest")
    if not any(gradients[layer] > 0 for layer in vanishing) and not _saturate(site, vanishing):
        return no("the gradients are exactly 0")
    no_progress = learning_of(run).no_progress
    if no_progress is None:
        return although(learning_of(run), "the first layers' gradients are small")
    return _finding(run, site, gradients, vanishing, no_progress)


def _forgetful_layer(site: Site) -> str:
    """A recurrent layer over a long sequence, in a model whose first predictions are the same for all samples."""
    predictions = _first_predictions(site)
    spreads = predictions.column_stds
    sequences = [seen.shape for seen in site.inputs.values() if seen.shape is not None and len(seen.shape) == 3]
    equal = bool(spreads) and max(spreads) <= MAX_EQUAL_SPREAD * max_abs(predictions)
    if not equal or not any(shape[1] >= MIN_SEQUENCE_LENGTH for shape in sequences):
        return ""
    return next((layer for layer in gradient_norms(site.readings[-1]) if "rnn" in layer.lower()), "")


def _first_predictions(site: Site) -> TensorStatistics:
    """Of the first batch alone: how much they differ from sample to sample."""
    is_one_batch = bool(site.batches) and site.batches[0].batches == 1
    return site.batches[0].tensors.get("y_pred", UNSEEN) if is_one_batch else UNSEEN


def _through_time(run: Run, site: Site, layer: str) -> Answer:
    no_progress = learning_of(run).no_progress
    if no_progress is None:
        return although(learning_of(run), f"{layer} starts with the same prediction for every sample")
    says = "in the first batch every sample got the same prediction: the start of the sequence has no effect"
    return Finding(
        cause=f"The gradients vanish through time in {layer}: only the end of the sequence affects the output.",
        confidence=confidence_of(site),
        evidence=(no_progress, Evidence(says, site.batches[:1]), progress(run)),
        remedies=(_lstm(site, layer), RECURRENT_INITIALIZER),
        where=layer_place(site, layer),
    )


def _lstm(site: Site, name: str) -> Remedy:
    """With as many units as the layer has, at its line."""
    found = next((each for each in site.layers if each.units and name.startswith(each.name)), None)
    if found is None:
        return USE_LSTM
    return dataclasses.replace(USE_LSTM, change=f"keras.layers.LSTM({found.units})", where=found.where)


def _saturate(site: Site, layers: list[str]) -> bool:
    return any(activation_after(site, layer) in SATURATING for layer in layers)


def _finding(run: Run, site: Site, gradients: dict[str, float], vanishing: list[str], no_progress: Evidence) -> Finding:
    first, last, begins = vanishing[0], next(reversed(gradients)), vanishing[-1]
    share = compact(gradients[first] / max(gradients.values()))
    says = f"from {last} back to {first}, the gradient relative to the weights falls to {share} of the largest"
    small = any(_is_small(site, layer) for layer in vanishing)
    return Finding(
        cause=f"The gradients vanish: {len(vanishing)} of {len(gradients)} layers, up to {begins}, barely learn.",
        confidence=confidence_of(site),
        evidence=(no_progress, Evidence(says, site.readings[-1:], tuple(gradients.values())), progress(run)),
        remedies=(DEFAULT_INITIALIZER, NORMALIZE) if small else (USE_RELU, NORMALIZE),
        where=layer_place(site, begins),
    )


def _is_small(site: Site, layer: str) -> bool:
    return 0 < site.readings[0].weights.get(layer, 0.0) < MAX_SMALL_SCALE * glorot_norm(site, layer)
