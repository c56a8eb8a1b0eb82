"""gpu-out-of-memory: a single step that does not fit, where nothing kept accumulates."""

from __future__ import annotations

import pytest

from laststep.record.event import Event
from tests.rules.leaked.gpu import FLAT, GROWS, containers, died, rules, usage

OTHERS = {
    "flat memory": (*FLAT, containers(15.0, 41, 41, 2000)),
    "the first step": (*usage(600, 2600, every=1), containers(12.0, 2, 40, 2000)),
    "data that was there before": (*GROWS, containers(15.0, 41, 5000, 2000)),
    "a list that holds little of it": (*GROWS, containers(15.0, 41, 41, 100)),
    "a deque with a bound": (*GROWS, containers(15.0, 41, 41, 2000, most=50)),
    "no tensors": (*GROWS, containers(15.0, 41, 41, 2000, holds="str")),
    "nothing measured on the GPU": (containers(15.0, 41, 41, 2000),),
    "no census of containers": GROWS,
}


@pytest.mark.parametrize("events", OTHERS.values(), ids=OTHERS)
def test_else_it_is_the_step_that_does_not_fit(events: tuple[Event, ...]) -> None:
    assert rules(died(*events))[0] == "gpu-out-of-memory"
