"""The samples: bounded, the newest half untouched by thinning, an incomplete or foreign line skipped."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from laststep.record import samples as module
from laststep.record.sample import HostMemory, Sample
from laststep.record.samples import SampleWriter, read_samples

from .conftest import Mount

SHARED_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def times(path: Path) -> list[float]:
    return [sample.time for sample in read_samples(path)]


def test_a_sample_comes_back_at_once(tmp_path: Path) -> None:
    writer = SampleWriter(tmp_path / "samples.jsonl")
    writer.write({"t": 1.5, "rss": 7, "host": {"total": 3}})
    assert read_samples(tmp_path / "samples.jsonl") == [Sample(time=1.5, rss=7, host=HostMemory(total=3))]


@pytest.mark.parametrize(
    "count", [module.MAX_SAMPLES, module.MAX_SAMPLES + 1, 3 * module.MAX_SAMPLES + 7, 10 * module.MAX_SAMPLES]
)
def test_it_is_bounded_the_first_stays_and_the_newest_are_all_there(tmp_path: Path, count: int) -> None:
    path = tmp_path / "samples.jsonl"
    writer = SampleWriter(path)
    for number in range(count):
        writer.write({"t": number})
    found = times(path)
    assert len(found) <= module.MAX_SAMPLES
    assert found == sorted(set(found))
    assert found[0] == 0
    newest = min(count, module.UNTHINNED_SAMPLES)
    assert found[-newest:] == list(range(count - newest, count))
    assert writer.stopped is None


def test_older_history_gets_coarser_and_has_no_hole(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    writer = SampleWriter(path)
    count = 6 * module.MAX_SAMPLES
    for number in range(count):
        writer.write({"t": number})
    found = times(path)
    gaps = [later - earlier for earlier, later in itertools.pairwise(found)]
    assert max(gaps) < count / 20
    assert gaps[-1] == 1


def test_the_file_is_ours_alone_also_after_thinning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SAMPLES", 10)
    old = os.umask(0)
    try:
        writer = SampleWriter(tmp_path / "samples.jsonl")
        assert (tmp_path / "samples.jsonl").stat().st_mode & 0o777 == 0o600
        for number in range(25):
            writer.write({"t": number})
    finally:
        os.umask(old)
    (file,) = tmp_path.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


@SHARED_FOLDER
@given(cut=st.integers(0, 400))
def test_a_tail_torn_at_any_byte_costs_only_that_sample(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "samples.jsonl"
    lines = [json.dumps({"t": number, "note": "x" * number}).encode() + b"\n" for number in range(12)]
    whole = b"".join(lines)[: cut or None] if cut else b""
    path.write_bytes(whole)
    complete = 0
    while len(b"".join(lines[: complete + 1])) - 1 <= cut and complete < 12:
        complete += 1
    assert times(path) == list(range(complete))


@SHARED_FOLDER
@given(garbage=st.binary(max_size=300).filter(lambda garbage: b'"t"' not in garbage))
def test_arbitrary_bytes_are_skipped(tmp_path: Path, garbage: bytes) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_bytes(b'{"t":1}\n' + garbage + b'\n{"t":2}\n[1]\n{"t":"3"}\n{"rss":1}\n{"t":4}\n')
    assert times(path) == [1, 2, 4]


def test_a_full_disk_never_raises_and_says_that_it_stopped(mount: Mount) -> None:
    place = mount("tmpfs", "size=64k")
    writer = SampleWriter(place / "samples.jsonl")
    for number in range(3000):
        writer.write({"t": number, "padding": "x" * 100})
    assert writer.stopped is not None
    assert "No space" in writer.stopped
    found = times(place / "samples.jsonl")
    assert found == list(range(len(found)))
    assert len(found) > 100


def test_a_disk_full_while_thinning_keeps_what_was_there(mount: Mount, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SAMPLES", 200)
    place = mount("tmpfs", "size=64k")
    writer = SampleWriter(place / "samples.jsonl")
    for number in range(400):
        writer.write({"t": number, "padding": "x" * 230})
    found = times(place / "samples.jsonl")
    assert len(found) >= 100
    assert found[-1] >= 199


def test_without_a_file_there_are_none(tmp_path: Path) -> None:
    assert read_samples(tmp_path / "samples.jsonl") == []
