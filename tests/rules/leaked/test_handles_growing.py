"""handles-growing: open files that increase, and ones that settle."""

from __future__ import annotations

from dataclasses import replace

from tests.rules.leaked.runs import answered, epochs, samples


def test_handles() -> None:
    found = [replace(each, files=20 + 8 * int(each.time)) for each in samples(60, 0)]
    assert answered(found, epochs(1, 2)) == ["handles-growing"]
    settled = [replace(each, files=20 + min(300, 20 * int(each.time))) for each in samples(60, 0)]
    assert answered(settled, epochs(1, 2)) == []
