"""memory-thrashing on made-up samples."""

from __future__ import annotations

from typing import Any

from tests.rules.stalled.runs import found, training


def test_memory_that_is_full_all_the_while() -> None:
    def full(i: int, faults: float, used: float = 0.99) -> dict[str, Any]:
        group = {"used": used * 10**9, "limit": 10**9}
        return {"t": 100.0 + 5 * i, "group": group, "faults": int(i * faults), "pressure": {"memory": 30.0}}

    assert list(found(training([full(i, 500) for i in range(9)]))) == ["memory-thrashing"]
    assert found(training([full(i, 0) for i in range(9)])) == {}
    assert found(training([full(i, 500, used=0.5) for i in range(9)])) == {}
    assert found(training([full(i, 500) for i in range(3)])) == {}
