"""gpu-memory-growing: GPU memory that grows without a known owner."""

from __future__ import annotations

from tests.rules.leaked.gpu import died, rules, usage


def test_growth_without_an_owner_is_still_the_root() -> None:
    diagnosis = died(*usage(*range(600, 3000, 100)))
    assert rules(diagnosis)[:2] == ["gpu-memory-growing", "gpu-out-of-memory"]
