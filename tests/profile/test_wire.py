"""The wire format: what a writer wrote is read, and nothing else happens whatever the bytes are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laststep.profile.wire import Malformed, fields, signed, varint
from tests.profile import made


@given(st.integers(min_value=-(2**63), max_value=2**63 - 1))
def test_numbers_come_back(number):
    value, end = varint(memoryview(made.varint(number)), 0)
    assert signed(value) == number
    assert end == len(made.varint(number))


def test_fields_come_back():
    data = made.field(1, 300) + made.field(2, "layer") + b"\x19" + b"8 bytes!" + b"\x25" + b"four"
    found = [(key, value if isinstance(value, int) else bytes(value)) for key, value in fields(memoryview(data))]
    assert found == [(1, 300), (2, b"layer"), (3, b"8 bytes!"), (4, b"four")]


@pytest.mark.parametrize(
    "data", [b"\x08", b"\x08\x80", b"\x12\x05abc", b"\x19abc", b"\x0b", b"\xff" * 12, b"\x12" + b"\xff" * 9 + b"\x01"]
)
def test_torn_bytes_are_torn(data):
    with pytest.raises(Malformed):
        list(fields(memoryview(data)))


@given(st.binary(max_size=200))
def test_any_bytes_are_fields_or_torn(data):
    try:
        list(fields(memoryview(data)))
    except Malformed:
        pass
