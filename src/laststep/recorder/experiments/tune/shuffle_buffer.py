"""A shuffle after slow work takes minutes to fill: in a side run its buffer is smaller, and the epoch shorter."""

from __future__ import annotations

import functools
from typing import Any

from laststep.recorder.experiments.tune import elements
from laststep.recorder.experiments.tune.calls import Call, rebuild, repeat_call, walk
from laststep.recorder.guard import attempt

RATE_SECONDS = 0.5  # to measure how fast its input is
MAX_FILL_SECONDS = 1.0
EPOCH_SECONDS = 1.2


def with_smaller_shuffles(dataset: Any) -> tuple[Any, list[str]]:
    """The dataset to compare with, and notes on what was made smaller."""
    notes = []
    for call in list(walk(dataset)):
        if call.method != "shuffle":
            continue
        edit, _ = attempt(_edit, call, dataset)
        if edit is not None:
            dataset = rebuild(dataset, call, edit)
            notes.append("a shuffle that fills slowly was made smaller, and the epoch shorter by as much")
    return dataset, notes[:1]


def _edit(call: Call, dataset: Any) -> Any:
    buffer, count = int(call.argument("buffer_size", 1)), int(call.input.cardinality().numpy())
    filled = min(buffer, count) if count > 0 else buffer
    elements_per_second = elements.elements_per_second(call.input, RATE_SECONDS, filled)
    if filled / elements_per_second < MAX_FILL_SECONDS:
        return None
    enough = max(int(elements_per_second * EPOCH_SECONDS), 4 * _batch_size(dataset))
    share = min(1.0, enough / count) if count > 0 else min(1.0, enough / buffer / 2)
    return functools.partial(_smaller, buffer=max(1, int(buffer * share)), take=enough if count > enough else None)


def _smaller(call: Call, buffer: int, take: int | None) -> Any:
    kwargs = {name: value for name, value in call.kwargs.items() if name != "buffer_size"}
    source = call.args[0] if take is None else call.args[0].take(take)
    return repeat_call(call, (source, buffer, *call.args[2:]), kwargs)


def _batch_size(dataset: Any) -> int:
    sizes = [int(call.argument("batch_size", 1)) for call in walk(dataset) if call.method == "batch"]
    return max(sizes, default=1)
