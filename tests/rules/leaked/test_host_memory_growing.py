"""host-memory-growing: other things than tensors, and growth without an owner."""

from __future__ import annotations

from tests.rules.leaked.runs import answered, census, epochs, holding, samples


def test_other_things_than_tensors() -> None:
    assert answered(samples(60, 10), [holding(30, 300, holds="bytes"), holding(50, 500, holds="bytes")]) == [
        "host-memory-growing"
    ]


def test_growth_without_an_owner_needs_epochs() -> None:
    found = samples(60, 20)
    assert answered(found, [census(30), census(50)]) == []
    assert answered(found, [*epochs(2), census(30), census(50)]) == []
    assert answered(found, [*epochs(2, 10, 20, 30, 40, 50), census(30), census(50)]) == ["host-memory-growing"]


def test_growth_without_an_owner_may_be_garbage_until_it_was_collected() -> None:
    found, ends = samples(60, 20), epochs(2, 10, 20, 30, 40, 50)
    assert answered(found, [*ends, census(30, freed=None), census(50, freed=None)]) == []
    by_python = [census(30, freed=None, collections=3), census(50, freed=None, collections=4)]
    assert answered(found, [*ends, *by_python]) == ["host-memory-growing"]
