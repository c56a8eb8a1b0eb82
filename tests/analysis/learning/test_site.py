"""The site of a training step: its learning rate, and traces of one place."""

from __future__ import annotations

from laststep.analysis.learning.site import last_site, sites
from laststep.record.run import Run
from tests.rules.diverged.steps import made, reading, run_of
from tests.written import written


def test_the_rate_of_compile_holds_where_none_was_seen_later() -> None:
    compiled = {"id": 1, "optimizer": {"class": "Adam", "learning_rate": 0.5, "momentum": 0.9}}
    run = run_of(
        [reading(1, rate=None)], optimizer={"class": "LossScaleOptimizer", "inner": "SGD", "learning_rate": None}
    )
    site = last_site(Run("made-up", events=(written(9.0, "fit", compiled), *run.events)))
    assert site is not None
    assert (site.rate(site.readings[0]), site.optimizer.momentum, site.optimizer_class) == (0.5, 0.9, "SGD")


def test_traces_of_one_place_are_one_site() -> None:
    """A last batch that is smaller is traced again; a trace that never ran is left out."""
    events = [written(1.0 + n, "gradients", made(site=n)) for n in (1, 2, 3)]
    events += [written(5.0 + n, "numbers", reading(10 * n) | {"site": n}) for n in (2, 1)]
    events += [written(6.5, "numbers", reading(15) | {"site": 1, "weights": {}})]
    events += [written(9.0, "batch", {"site": n, "batches": 9 - n, "tensors": {"x": {"mean": n}}}) for n in (1, 2)]
    (site,) = sites(Run("made-up", tuple(events)))
    assert [reading.step for reading in site.readings] == [10, 15, 20]
    assert site.readings[1].weights == site.readings[0].weights, "not read in this step: those read before hold"
    assert site.tensors["x"].mean == 1
