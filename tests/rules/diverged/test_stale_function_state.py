"""stale-function-state: a value that a traced function keeps, unless it was traced again."""

from __future__ import annotations

from laststep.record.place import Place
from tests.rules.diverged.fits import FALLS, first, found, trained
from tests.written import written


def test_a_stale_value_is_named_unless_it_was_traced_again() -> None:
    stale = {"name": "self.beta", "file": "/home/me/train.py", "line": 8, "before": 0.0, "now": 0.2, "step": 40}
    run = trained(FALLS, written(50.0, "stale", stale))
    assert first(run) == "stale-function-state"
    assert found(run)["stale-function-state"].where == Place("/home/me/train.py", 8)
    counted = written(50.0, "stale", stale | {"before": 2, "now": 2, "written": True})
    assert "only during tracing" in found(trained(FALLS, counted))["stale-function-state"].cause
    again = written(51.0, "gradients", {"site": 2})
    assert first(trained(FALLS, written(50.0, "stale", stale), again)) == "healthy"
    assert first(trained(FALLS, written(50.0, "stale", stale | {"now": 0.0}))) == "healthy"
