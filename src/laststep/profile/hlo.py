"""XLA's instructions → the ops, and so the layers, that they were compiled from."""

from __future__ import annotations

import re
from collections.abc import Iterable

from laststep.profile.wire import fields, text

MAX_HLO_BYTES = 64 << 20  # of all modules together


def names(metadata: Iterable[memoryview]) -> dict[str, str]:
    """Instruction → the name of its op ("" if XLA does not record it), from every HLO module in the trace."""
    found: dict[str, str] = {}
    left = MAX_HLO_BYTES
    for event in metadata:
        for proto in _below(event, 5, 6):  # the metadata's stats, their bytes
            left -= len(proto)
            if left < 0:
                return found
            for instruction in _below(proto, 1, 3, 2):  # module, computations, instructions
                _add(instruction, found)
    return found


def _below(data: memoryview, *path: int) -> Iterable[memoryview]:
    for key, value in fields(data):
        if key == path[0] and isinstance(value, memoryview):
            if len(path) == 1:
                yield value
            else:
                yield from _below(value, *path[1:])


def _add(instruction: memoryview, found: dict[str, str]) -> None:
    name = op = ""
    for key, value in fields(instruction):
        if key == 1:
            name = text(value)
        elif key == 7 and isinstance(value, memoryview):
            op = next((text(inner) for number, inner in fields(value) if number == 2), "")
    if name:
        found.setdefault(name, op)


def plain(name: str) -> str:
    """dot.14 and dot_14 → dot"""
    return re.sub(r"([._]\d+)+$", "", name)
