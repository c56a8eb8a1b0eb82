"""Typed values back to the plain fields that were written: what is encoded decodes to itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from laststep.record.decode import decode, encode
from laststep.record.event import Event
from laststep.record.events import KINDS, decode_event
from laststep.record.events.shared import Frame
from laststep.record.run import Run
from laststep.record.sample import Sample
from tests.written import written

RECORDED = sorted(path for path in (Path(__file__).parents[1] / "recorded").iterdir() if path.is_dir())


def again(event: Event) -> Event | None:
    return decode_event(event.KIND, encode(event), time=event.time, source=event.source, rank=event.rank)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_an_event_of_each_kind_comes_back(kind):
    empty = written(1.5, kind, {}, "inside", 3)
    assert again(empty) == empty


@pytest.mark.parametrize("folder", RECORDED, ids=lambda folder: folder.name)
def test_all_that_was_recorded_comes_back(folder):
    run = Run.load(folder)
    assert run.events
    # As text, because NaN does not equal NaN.
    assert [repr(again(event)) for event in run.events] == [repr(event) for event in run.events]
    assert [repr(decode(Sample, encode(sample))) for sample in run.samples] == [repr(sample) for sample in run.samples]


def same(kind: str, fields: dict[str, Any]) -> None:
    assert encode(written(0.0, kind, fields)) == fields


def test_fields_have_the_names_and_the_gaps_that_they_have_on_disk():
    log = {"file": "train.log", "lines": 12, "bytes": 340, "runs": 1, "rubbish": 0}
    same("log", log)
    same("log", log | {"reversed": True})
    frame = {"file": "/usr/lib/python3.12/threading.py", "function": "wait"}
    assert encode(decode(Frame, frame | {"line": None})) == frame
    mine = {"file": "train.py", "line": 3, "function": "f", "text": "f()", "is_users": True, "counters": {"epoch": 2}}
    assert encode(decode(Frame, mine)) == mine


def test_a_sample_is_as_it_was_written():
    disk = {"path": "/dev/shm", "free": 1, "total": 2, "inodes_free": 3}
    fields = {
        **{"t": 1.5, "rss": 10, "main_rss": 9, "processes": 1, "shm": disk},
        "host": {"total": 8, "available": 4, "swap_total": 0, "swap_free": 0},
        "group": {"used": 3, "limit": 5},
        "gpus": [{"gpu": 0, "used": 1, "total": 2, "held_by": [{"pid": 7, "used": None}]}],
    }
    assert encode(decode(Sample, fields)) == fields
