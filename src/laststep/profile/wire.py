"""The protobuf wire format, for untrusted data: bounded amounts; Malformed is the only error."""

from __future__ import annotations

from collections.abc import Iterator

Field = tuple[int, "int | memoryview"]

MAX_TEXT_BYTES = 4096
VARINT, EIGHT_BYTES, LENGTH, FOUR_BYTES = 0, 1, 2, 5


class Malformed(Exception):
    """These bytes are not a complete message."""


def varint(data: memoryview, at: int) -> tuple[int, int]:
    """(number, position after it)"""
    value = shift = 0
    try:
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, at
            shift += 7
            if shift > 63:
                raise Malformed("a number of more than 64 bits")
    except IndexError:
        raise Malformed("it ends in the middle of a number") from None


def fields(data: memoryview) -> Iterator[Field]:
    """Each field of one message: its number, and an int or the bytes (a double comes as its eight bytes)."""
    at, end = 0, len(data)
    while at < end:
        key, at = varint(data, at)
        kind = key & 7
        if kind == VARINT:
            value, at = varint(data, at)
            yield key >> 3, value
            continue
        if kind == LENGTH:
            length, at = varint(data, at)
        elif kind in (EIGHT_BYTES, FOUR_BYTES):
            length = 8 if kind == EIGHT_BYTES else 4
        else:
            raise Malformed(f"a field of an unknown kind ({kind})")
        if at + length > end:
            raise Malformed("it ends in the middle of a field")
        yield key >> 3, data[at : at + length]
        at += length


def signed(value: int) -> int:
    """A negative int64 is written as a very large number."""
    return value - (1 << 64) if value >= 1 << 63 else value


def text(value: int | memoryview) -> str:
    return bytes(value[:MAX_TEXT_BYTES]).decode("utf-8", "replace") if isinstance(value, memoryview) else ""


def number(value: int | memoryview) -> int:
    return value if isinstance(value, int) else 0
