"""The journal: what was written is read back, whatever happens to the file, the disk or the descriptor."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from laststep.record import journal as journals
from laststep.record.events.process import Raised
from laststep.record.events.supervisor import RecordingStopped
from laststep.record.journal import Entry, JournalWriter, read_entries, read_journal

from . import schema
from .conftest import Mount, fill

SHARED_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def written(path: Path, count: int) -> bytes:
    """A closed journal with `count` numbered events; its bytes."""
    path.unlink(missing_ok=True)
    journal = JournalWriter(path, "test", clock=lambda: 1234.5)
    for number in range(count):
        journal.write("exception", {"batch": number, "message": "é" * (number % 7)})
    journal.close()
    return path.read_bytes()


def numbers(path: Path) -> list[int]:
    """-1 for an event without its fields."""
    events = [event for event in read_journal(path) if not isinstance(event, RecordingStopped)]
    raised = [event for event in events if isinstance(event, Raised)]
    assert raised == events, "nothing else was written"
    return [-1 if event.batch is None else event.batch for event in raised]


@SHARED_FOLDER
@given(events=st.lists(st.dictionaries(st.text(), PLAIN, max_size=4), max_size=10))
def test_what_goes_in_comes_out(tmp_path: Path, events: list[dict[str, Any]]) -> None:
    path = tmp_path / "journal.jsonl"
    path.unlink(missing_ok=True)
    journal = JournalWriter(path, "test", clock=lambda: 12.5)
    for data in events:
        journal.write("exception", data)
    entries = [Entry("exception", 12.5, "test", data) for data in events]
    assert list(read_entries(path)) == entries  # while it is still open
    journal.close()
    assert list(read_entries(path)) == entries


@SHARED_FOLDER
@given(events=st.lists(schema.written(Raised), max_size=4))
def test_each_is_read_as_an_event_with_these_fields(tmp_path: Path, events: list[dict[str, Any]]) -> None:
    path = tmp_path / "journal.jsonl"
    path.unlink(missing_ok=True)
    journal = JournalWriter(path, "test", clock=lambda: 12.5)
    for data in events:
        journal.write("exception", data)
    journal.close()
    read = list(read_journal(path))
    assert [(type(event), event.time, event.source) for event in read] == [(Raised, 12.5, "test")] * len(events)
    assert schema.lost(events, schema.encode(read), "exception") == []


def test_an_event_is_on_disk_when_write_returns(tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path / "journal.jsonl", "test")
    for number in range(20):
        journal.write("exception", {"batch": number})
        assert numbers(tmp_path / "journal.jsonl") == list(range(number + 1))
    journal.close()


@SHARED_FOLDER
@given(data=st.data())
def test_a_tail_torn_at_any_byte_costs_only_that_event(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "journal.jsonl"
    whole = written(path, 12)
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    # An event whose line is there but for its newline is whole.
    complete = [at for at in range(len(whole)) if whole[at : at + 1] == b"\n" and at <= cut]
    assert numbers(path) == list(range(max(0, len(complete) - 1)))


@SHARED_FOLDER
@given(garbage=st.binary(max_size=400).filter(lambda garbage: b'"t"' not in garbage), position=st.integers(0, 12))
def test_arbitrary_bytes_between_lines_cost_no_event(tmp_path: Path, garbage: bytes, position: int) -> None:
    path = tmp_path / "journal.jsonl"
    lines = written(path, 12).splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:position]) + garbage + b"\n" + b"".join(lines[position:]))
    assert numbers(path) == list(range(12))


@pytest.mark.parametrize(
    "line",
    [
        '{"t":1,"kind":"exception","data":[1]}',
        '{"t":"1","kind":"exception","data":{}}',
        '{"kind":"exception","data":{}}',
        '[{"t":1,"data":{}}]',
        '{"a":' * 100_000,
        '{"t":1' + "0" * 400 + ',"kind":"exception","data":{}}',
        '{"t":1' + "0" * 5000 + ',"kind":"exception","data":{}}',
        '{"t":1,"kind":"exception","data":{"frames":' + "[" * 50_000 + "]" * 50_000 + "}}",
    ],
    ids=["data-list", "time-text", "no-time", "list", "deep-open", "time-400-digits", "time-5000-digits", "deep"],
)
def test_a_foreign_line_is_skipped(tmp_path: Path, line: str) -> None:
    path = tmp_path / "journal.jsonl"
    whole = written(path, 3)
    path.write_bytes(whole + line.encode() + b"\n" + b'{"t":9,"n":9,"kind":"exception","data":{"batch":3}}\n')
    assert numbers(path) == [0, 1, 2, 3]


def test_the_size_is_bounded_for_ever_and_the_first_and_the_newest_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "HEAD_BYTES", 8000)
    monkeypatch.setattr(journals, "TAIL_BYTES", 4000)
    path = tmp_path / "journal.jsonl"
    journal = JournalWriter(path, "test")
    largest = 0
    for number in range(3000):
        journal.write("exception", {"batch": number, "message": "x" * (number % 90)})
        if number == 40:
            early = path.read_bytes().rstrip(b"\0")
        if number > 200:
            largest = max(largest, sum(os.path.getsize(piece) for piece in tmp_path.iterdir()))
            if number % 100 == 0:
                assert numbers(path)[-1] == number
    journal.close()
    read = numbers(path)
    assert read[:41] == list(range(41))
    assert path.read_bytes().startswith(early)
    assert read[-20:] == list(range(2980, 3000))
    assert read == sorted(set(read))
    assert largest <= journals.RESERVE_BYTES + 2 * 4000
    assert sum(os.path.getsize(piece) for piece in tmp_path.iterdir()) <= journals.RESERVE_BYTES + 2 * 4000


def test_real_limits_hold(tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path / "journal.jsonl", "test")
    for number in range(300):
        journal.write("exception", {"batch": number, "message": "x" * 60_000})
    journal.close()
    total = sum(os.path.getsize(piece) for piece in tmp_path.iterdir())
    assert total <= journals.HEAD_BYTES + 2 * journals.TAIL_BYTES
    read = numbers(tmp_path / "journal.jsonl")
    assert read[0] == 0
    assert read[-1] == 299


def test_one_huge_event_does_not_break_the_bound(tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path / "journal.jsonl", "test")
    journal.write("exception", {"batch": 0})
    for number in range(1, 5):
        journal.write("exception", {"batch": number, "message": "x" * (6 << 20)})
        total = sum(os.path.getsize(piece) for piece in tmp_path.iterdir())
        assert total <= journals.HEAD_BYTES + 2 * journals.TAIL_BYTES
    journal.write("exception", {"batch": 5})
    journal.close()
    read = numbers(tmp_path / "journal.jsonl")
    assert read[0] == 0
    assert read[-1] == 5


def test_the_file_is_ours_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journals, "HEAD_BYTES", 2000)
    monkeypatch.setattr(journals, "TAIL_BYTES", 1000)
    old = os.umask(0)
    try:
        written(tmp_path / "journal.jsonl", 200)
    finally:
        os.umask(old)
    assert {piece.stat().st_mode & 0o777 for piece in tmp_path.iterdir()} == {0o600}
    assert len(list(tmp_path.iterdir())) == 3


def test_a_closed_descriptor_stops_the_journal_not_the_caller(tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path / "journal.jsonl", "test")
    journal.write("exception", {"batch": 0})
    os.close(journal._fd)
    journal.write("exception", {"batch": 1})
    assert journal.stopped == "EBADF"
    assert journal.dropped == 1
    journal.close()
    assert numbers(tmp_path / "journal.jsonl") == [0]


def test_a_reused_descriptor_keeps_its_new_owners_content(tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path / "journal.jsonl", "test")
    journal.write("exception", {"batch": 0})
    hosts = tmp_path / "hosts-own-file"
    hosts.write_bytes(b"precious")
    fd = os.open(hosts, os.O_RDWR)
    os.dup2(fd, journal._fd)
    journal.write("exception", {"batch": 1})
    journal.close()
    assert hosts.read_bytes() == b"precious"
    os.fstat(journal._fd)  # and it is still open: it is not ours to close
    os.close(journal._fd)
    os.close(fd)


def test_the_hosts_descriptor_numbers_stay_free(tmp_path: Path) -> None:
    before = os.open(tmp_path, os.O_RDONLY)
    os.close(before)
    journal = JournalWriter(tmp_path / "journal.jsonl", "test")
    after = os.open(tmp_path, os.O_RDONLY)
    os.close(after)
    journal.close()
    assert after == before


class _Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no text for you")


def _circle() -> dict[str, Any]:
    data: dict[str, Any] = {}
    data["self"] = data
    return data


def _deep() -> dict[str, Any]:
    data: dict[str, Any] = {}
    for _ in range(100_000):
        data = {"in": data}
    return data


@pytest.mark.parametrize(
    "made",
    [lambda: {(1, 2): 3}, _circle, lambda: {"a": _Unprintable()}, _deep],
    ids=["key", "circle", "unprintable", "deep"],
)
def test_data_that_is_no_json_never_raises_and_costs_no_other_event(tmp_path: Path, made: Any) -> None:
    data = made()
    journal = JournalWriter(tmp_path / "journal.jsonl", "test")
    journal.write("exception", data)
    journal.write("exception", {"batch": 1})
    journal.close()
    assert 1 in numbers(tmp_path / "journal.jsonl")


def test_the_same_process_starting_anew_keeps_the_first_events(tmp_path: Path) -> None:
    """After an exec the pid, and with it the file, is the same."""
    first = JournalWriter(tmp_path / "recorder.7.jsonl", "recorder")
    for number in range(5):
        first.write("exception", {"batch": number})
    os.close(first._fd)  # as an exec does
    second = JournalWriter(tmp_path / "recorder.7.jsonl", "recorder")
    second.write("exception", {"batch": 5})
    second.close()
    assert sorted(numbers(tmp_path / "recorder.7.jsonl")) == [0, 1, 2, 3, 4, 5]


def test_a_full_disk_never_raises_and_every_event_is_read_or_counted(mount: Mount) -> None:
    place = mount("tmpfs", "size=256k")
    journal = JournalWriter(place / "journal.jsonl", "test")
    for number in range(2000):
        journal.write("exception", {"batch": number, "message": "x" * 500})
    assert journal.stopped == "ENOSPC"
    journal.close()
    read = numbers(place / "journal.jsonl")
    assert read == list(range(len(read)))
    assert len(read) + journal.dropped == 2000


def test_a_disk_that_was_full_later_still_takes_what_was_reserved(mount: Mount) -> None:
    place = mount("tmpfs", "size=256k")
    journal = JournalWriter(place / "journal.jsonl", "test")
    fill(place)
    for number in range(100):
        journal.write("exception", {"batch": number, "message": "x" * 500})
    assert journal.stopped is None
    assert numbers(place / "journal.jsonl") == list(range(100))


def test_a_disk_that_is_full_from_the_start_stops_it_without_a_word(mount: Mount) -> None:
    place = mount("tmpfs", "size=64k")
    fill(place)
    journal = JournalWriter(place / "journal.jsonl", "test")
    for number in range(3):
        journal.write("exception", {"batch": number})
    journal.close()
    assert (journal.stopped, journal.dropped) == ("ENOSPC", 3)


def test_a_line_is_one_json_object(tmp_path: Path) -> None:
    lines = written(tmp_path / "journal.jsonl", 3).splitlines()
    assert json.loads(lines[0])["laststep"] == journals.VERSION
    assert [json.loads(line)["n"] for line in lines[1:]] == [1, 2, 3]
