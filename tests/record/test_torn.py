"""A torn record: each field in its form or left out, and the rules about losses read what is left."""

from __future__ import annotations

import math
from typing import Any

import pytest

from laststep.analysis.learning.learning import learning_of
from laststep.record.run import Run
from laststep.record.torn import count, entries, figure, figures, number, rows, shape, table, tidied, tidy
from laststep.rules.diverged.nan_loss import nan_loss
from tests.written import written

RUBBISH = (None, "x", [], {}, 7, -1.5, 10**400, math.nan, math.inf, [None], {"a": None}, True)


def test_what_is_not_of_its_form_is_left_out() -> None:
    forms = {"p": figure, "shape": shape, "parts": rows({"p": figure})}
    told = {"p": "much", "shape": [3, None], "parts": [7, {"p": True, "q": "kept"}], "other": "kept"}
    assert tidy(told, forms) == {"parts": [{"q": "kept"}], "other": "kept"}
    assert tidied(written(1.0, "batch", {}), {"n": count, "all": figures, "p": figure}).raw == {"n": 0, "all": []}


@pytest.mark.parametrize("value", RUBBISH, ids=lambda value: repr(value)[:12])
def test_every_form_takes_anything(value: Any) -> None:
    assert isinstance(number(value), float)
    assert isinstance(count(value), int)
    assert isinstance(table(value), dict)
    assert all(isinstance(item, float) for item in figures(value))
    assert isinstance(entries(value), list)


@pytest.mark.parametrize("field", ["metrics", "batches", "epoch", "loss"])
@pytest.mark.parametrize("value", RUBBISH, ids=lambda value: repr(value)[:12])
def test_torn_epochs_are_read_as_far_as_they_go(field: str, value: Any) -> None:
    whole = [{"fit": 1, "epoch": n, "batches": 40, "metrics": {"loss": 0.7}} for n in range(6)]
    change = {"metrics": {"loss": value}} if field == "loss" else {field: value}
    torn = [{**epoch, **change} for epoch in whole[:3]]
    fit = written(1.0, "fit", {"id": 1, "new_model": True})
    run = Run("torn", (fit, *(written(2.0 + n, "epoch", told) for n, told in enumerate([*torn, *whole[3:]]))))
    assert len(learning_of(run).losses.points) in ((0, 6) if field in ("metrics", "loss") else (6,))
    assert nan_loss.check(run) is not None
