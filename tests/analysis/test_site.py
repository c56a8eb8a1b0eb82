"""Where training happens: one site per place in the program, however often it is traced."""

from __future__ import annotations

from laststep.analysis.learning.site import sites
from laststep.record.run import Run
from tests.written import written


def test_traces_of_one_place_are_one_site() -> None:
    """A last batch that is smaller is traced anew."""
    made = {"where": {"file": "train.py", "line": 3}, "variables": [{"name": "dense/kernel", "shape": [4, 1]}]}
    events = [written(1.0 + n, "gradients", {**made, "site": n}) for n in (1, 2)]
    events += [written(5.0 + n, "numbers", {"site": n, "step": 10 * n}) for n in (2, 1)]
    events += [written(9.0, "batch", {"site": n, "batches": 9 - n, "tensors": {"x": {"mean": n}}}) for n in (1, 2)]
    (site,) = sites(Run("made-up", tuple(events)))
    assert [numbers.step for numbers in site.looks] == [10, 20]
    assert site.batches[-1].batches == 8
