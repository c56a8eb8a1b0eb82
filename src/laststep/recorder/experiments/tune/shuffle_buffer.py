"""A shuffle behind slow work fills for minutes: a side run makes its buffer smaller, and the epoch as much shorter."""

from __future__ import annotations

import functools
from typing import Any

from laststep.recorder.experiments.tune import elements
from laststep.recorder.experiments.tune.calls import Call, again, rebuild, walk
from laststep.recorder.guard import attempt

LOOK = 0.5  # seconds
LONGEST_FILL = 1.0
EPOCH = 1.2


def scaled(dataset: Any) -> tuple[Any, list[str]]:
    """The dataset to compare with, and what was made smaller in it."""
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
    held = min(buffer, count) if count > 0 else buffer
    pace = elements.rate(call.input, LOOK, held)
    if held / pace < LONGEST_FILL:
        return None
    enough = max(int(pace * EPOCH), 4 * _batch_size(dataset))
    share = min(1.0, enough / count) if count > 0 else min(1.0, enough / buffer / 2)
    return functools.partial(_smaller, buffer=max(1, int(buffer * share)), take=enough if count > enough else None)


def _smaller(call: Call, buffer: int, take: int | None) -> Any:
    kwargs = {name: value for name, value in call.kwargs.items() if name != "buffer_size"}
    source = call.args[0] if take is None else call.args[0].take(take)
    return again(call, (source, buffer, *call.args[2:]), kwargs)


def _batch_size(dataset: Any) -> int:
    sizes = [int(call.argument("batch_size", 1)) for call in walk(dataset) if call.method == "batch"]
    return max(sizes, default=1)
