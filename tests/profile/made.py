"""Small traces, written by hand in the wire format."""

from __future__ import annotations

from collections.abc import Iterable

Value = int | str | bytes


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(key: int, value: Value) -> bytes:
    if isinstance(value, int):
        return varint(key << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(key << 3 | 2) + varint(len(data)) + data


class Plane:
    """A plane that numbers its names as they come."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines = b""
        self.events: dict[str, int] = {}
        self.stats: dict[str, int] = {}
        self.own = b""

    def stat(self, name: str, value: Value) -> bytes:
        identity = self.stats.setdefault(name, len(self.stats) + 1)
        return field(1, identity) + field(4 if isinstance(value, int) else 5, value)

    def line(self, name: str, events: Iterable[tuple], start_ns: int = 0) -> None:
        """events: (name, begin in µs, length in µs) and perhaps a dict of stats"""
        out = field(2, name) + field(3, start_ns)
        for event, begin, length, *more in events:
            identity = self.events.setdefault(event, len(self.events) + 1)
            data = field(1, identity) + field(2, begin * 10**6) + field(3, length * 10**6)
            for key, value in (more[0] if more else {}).items():
                data += field(4, self.stat(key, value))
            out += field(4, data)
        self.lines += field(3, out)

    def bytes(self) -> bytes:
        out = field(2, self.name) + self.lines
        for key, names in ((4, self.events), (5, self.stats)):
            for name, identity in names.items():
                out += field(key, field(1, identity) + field(2, field(1, identity) + field(2, name)))
        return out + self.own


def space(*planes: Plane, origin_ns: int = 10**18) -> bytes:
    task = Plane("Task Environment")
    task.own = field(6, task.stat("profile_start_time", origin_ns))
    return b"".join(field(1, plane.bytes()) for plane in (*planes, task))
