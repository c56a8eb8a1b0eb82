"""Whether a model learns, by its losses and metrics."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from laststep.analysis.learning.learning import FAILS, LEARNS, UNKNOWN, learning_of
from laststep.record.event import Event
from laststep.record.events.numbers import Numbers
from laststep.record.events.supervisor import ProcessEnd
from laststep.record.events.training import FitEnd
from laststep.record.run import Run
from tests.rules.diverged.fits import FALLS, FLAT, trained
from tests.written import written

CURVES: dict[str, tuple[list[float], dict[str, Any], str]] = {
    "falls": (FALLS, {}, LEARNS),
    "no better than a constant prediction": (FLAT, {}, FAILS),
    "starts low, from saved weights": ([0.05, 0.05, 0.05, 0.05, 0.05, 0.05], {}, LEARNS),
    "a plateau, then it falls": ([0.70, 0.70, 0.69, 0.69, 0.66, 0.64], {}, UNKNOWN),
    "rises": ([0.5, 0.6, 0.7, 0.8, 0.9, 1.0], {"loss": {"name": "mine"}}, UNKNOWN),
    "a likelihood below zero": ([-1.0, -1.0, -1.0, -1.0, -1.0], {"loss": {"name": "mine"}}, UNKNOWN),
    "flat, of an unknown kind": ([3.0, 3.01, 3.0, 3.0, 3.01], {"loss": {"name": "mine"}}, FAILS),
    "a regularised loss that falls": ([4.0, 3.0, 2.0, 1.6, 1.3, 1.2], {}, UNKNOWN),
    "too few epochs": (FLAT[:1], {}, UNKNOWN),
    "not a number": ([float("nan")] * 6, {}, UNKNOWN),
    "rare class, flat loss, good accuracy": (FLAT, {"metrics": [{"accuracy": 0.9}] * 8}, LEARNS),
}


@pytest.mark.parametrize("name", CURVES)
def test_does_it_learn(name: str) -> None:
    losses, changes, verdict = CURVES[name]
    numbers = {"loss": losses[0]}
    assert learning_of(trained(losses, numbers=numbers, **copy.deepcopy(changes))).verdict == verdict


def test_a_little_accuracy_is_no_merit_where_the_loss_stands_still() -> None:
    by_chance = [{"accuracy": 0.62}] * 8
    assert learning_of(trained(FLAT, metrics=by_chance, numbers={"loss": 0.69})).verdict == FAILS
    right = {"metrics": [{"accuracy": 1.0}] * 8, "numbers": {"loss": 0.69}, "batches": 8}
    assert learning_of(trained(FLAT, fit={"data": {"batch_size": 4}}, **copy.deepcopy(right))).verdict == FAILS
    assert learning_of(trained(FLAT, fit={"data": {"batch_size": 5}}, **copy.deepcopy(right))).verdict == LEARNS


def test_a_loss_that_falls_back_in_each_epoch() -> None:
    worse = [1.31, 1.3, 1.31, 1.3, 1.31, 1.3, 1.31, 1.3]
    assert learning_of(trained(worse, numbers={"loss": 2.4})).verdict == FAILS
    assert learning_of(trained([1.31, 1.2, 1.1, 1.0, 0.9, 0.85, 0.8, 0.8], numbers={"loss": 2.4})).verdict == UNKNOWN


def open_fit(losses: list[float], **changes: Any) -> Run:
    """The same fit, while it goes on."""
    run = trained(losses, fit={"epochs": 8}, **changes)
    return Run("made-up", tuple(e for e in run.events if not isinstance(e, FitEnd | ProcessEnd)), alive=True)


def test_a_fit_that_goes_on_is_not_judged_in_its_first_epochs() -> None:
    first = learning_of(open_fit(FLAT[:1], numbers={"loss": 0.69}))
    assert (first.verdict, first.open_because) == (UNKNOWN, "too short to tell: 40 steps")
    second = learning_of(open_fit(FLAT[:2], numbers={"loss": 0.69}))
    assert (second.verdict, second.open_because) == (UNKNOWN, "too short to tell: 80 steps, 2 complete epochs")
    assert learning_of(open_fit(FLAT[:4], numbers={"loss": 0.69})).verdict == FAILS
    assert learning_of(open_fit(FLAT[:1], numbers={"loss": 0.69}, batches=1200)).verdict == FAILS


def test_a_loss_that_falls_slowly_is_not_given_up_while_the_fit_goes_on() -> None:
    slow = [0.7652, 0.7614, 0.7605, 0.7587, 0.7569, 0.7558, 0.7551]
    found = learning_of(open_fit(slow, numbers={"loss": 0.766}))
    assert (found.verdict, found.no_progress) == (UNKNOWN, None)
    assert found.open_because.startswith("the loss still falls, by 0.009")
    assert learning_of(trained(slow, numbers={"loss": 0.766})).verdict == FAILS  # it ended so


def one_epoch(losses: list[float]) -> Run:
    """A fit of 200 steps with an unknown loss, of which these were read."""
    run = trained(losses[:1], loss={"name": "mine"}, batches=200)
    read = [written(5.0 + n, "numbers", {"site": 1, "step": 5 * n, "loss": loss}) for n, loss in enumerate(losses)]
    return Run("made-up", (*(event for event in run.events if not isinstance(event, Numbers)), *read))


def test_a_few_noisy_losses_do_not_show_that_it_fails() -> None:
    noisy = [mean + more for mean in (25.0, 23.0, 26.5, 25.0) for more in (-1.0, 0.0, 1.0)]
    assert learning_of(one_epoch(noisy)).verdict == UNKNOWN
    assert learning_of(one_epoch(noisy)).open_because.startswith("too noisy to tell: after 200 steps")
    assert learning_of(one_epoch([24.0 + 0.01 * (n % 3) for n in range(12)])).verdict == FAILS


def test_one_high_reading_at_the_end_does_not_show_that_it_fails() -> None:
    last = [mean + more for mean in (0.71, 0.69, 0.7, 0.95, 0.16, 0.5, 1.73) for more in (0.0, 0.0, 0.01, -0.01, 0.0)]
    run = trained(last[:1], batches=1200)
    read = [written(5.0 + n, "numbers", {"site": 1, "step": 5 * n, "loss": loss}) for n, loss in enumerate(last)]
    found = Run("made-up", (*(event for event in run.events if not isinstance(event, Numbers)), *read))
    assert learning_of(found).share > 2
    assert learning_of(found).open_because.startswith("too noisy to tell")


def fits(*asked: tuple[int, bool, int, list[float]]) -> Run:
    """Fits in a row: epochs asked for, whether the model is new, the line, the losses."""
    events: list[Event] = [written(1.0, "run", {}), written(1.1, "recorder", {"pid": 7})]
    for number, (epochs, new, line, losses) in enumerate(asked, 1):
        began = 100.0 * number
        where = {"file": "/home/me/train.py", "line": line, "function": "<module>"}
        fit = {"id": number, "epochs": epochs, "new_model": new, "where": where, "loss": "mine"}
        events += [written(began, "fit", fit), written(began + 90, "fit-end", {"id": number})]
        metrics = [{"fit": number, "epoch": n, "batches": 50, "metrics": {"loss": loss}}
                   for n, loss in enumerate(losses)]  # fmt: skip
        events += [written(began + 1 + n, "epoch", each) for n, each in enumerate(metrics)]
    return Run("made-up", tuple(sorted(events, key=lambda event: event.time)))


def test_curves_of_two_fits_are_never_joined() -> None:
    pretrained, tuned = [9.0, 7.0, 6.0, 5.0, 4.5], [1.0, 0.99, 1.0, 0.99, 1.0]
    found = learning_of(fits((5, True, 10, pretrained), (5, False, 20, tuned)))
    assert found.losses.points == tuple(tuned)
    assert (found.verdict, found.no_progress) == (UNKNOWN, None)  # flat, but nobody knows how low it can get
    assert learning_of(fits((5, True, 20, tuned))).verdict == FAILS
    folds = learning_of(fits((5, True, 10, pretrained), (5, True, 10, pretrained)))
    assert folds.losses.points == tuple(pretrained)


def test_fits_of_one_epoch_at_one_line_are_one_training() -> None:
    losses = [3.0, 2.0, 1.5, 1.2, 1.0, 0.9]
    found = learning_of(fits(*((1, n == 0, 10, [loss]) for n, loss in enumerate(losses))))
    assert (found.losses.points, found.verdict) == (tuple(losses), LEARNS)
    other_line = learning_of(fits(*((1, n == 0, 10 + n, [loss]) for n, loss in enumerate(losses))))
    assert len(other_line.losses.points) == 0
