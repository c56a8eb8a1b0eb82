"""What is encoded is read back the same: every event and sample of the recorded runs, by way of JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from laststep.record.decode import decode, encode
from laststep.record.run import Run

RECORDED = sorted(folder for folder in (Path(__file__).parents[1] / "recorded").iterdir() if folder.is_dir())


@pytest.mark.parametrize("folder", RECORDED, ids=lambda folder: folder.name)
def test_back_and_forth(folder: Path) -> None:
    run = Run.load(folder)
    assert run.events
    assert run.samples
    for event in run.events:
        fields = json.loads(json.dumps(encode(event)))
        known = {"time": event.time, "source": event.source, "rank": event.rank}
        assert repr(decode(type(event), fields, **known)) == repr(event)  # as text, since NaN is not equal to itself
    for sample in run.samples:
        assert decode(type(sample), json.loads(json.dumps(encode(sample)))) == sample
