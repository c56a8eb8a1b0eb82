"""The samples: what the supervisor measured from outside, one line of JSON each, older ones thinned."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from laststep.record.journal import is_time
from laststep.record.reading import Allowance
from laststep.record.sample import Sample, decode_sample

MAX_SAMPLES = 8192
UNTHINNED_SAMPLES = 600  # the newest
MAX_READ_BYTES, MAX_LINE_BYTES = 24 << 20, 64 << 10


class SampleWriter:
    """Appends samples; when the file is full, every second one of the older samples is removed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = open(path, "ab", buffering=0)
        os.chmod(path, 0o600)
        self._count = 0
        self.stopped: str | None = None

    def write(self, fields: Mapping[str, Any]) -> None:
        if self.stopped:
            return
        line = json.dumps(fields, separators=(",", ":")).encode() + b"\n"
        try:
            self._file.write(line)
            self._count += 1
            if self._count > MAX_SAMPLES:
                self._thin()
        except OSError as error:
            self.stopped = str(error)

    def _thin(self) -> None:
        lines = self._path.read_bytes().splitlines(keepends=True)
        kept = lines[:-UNTHINNED_SAMPLES:2] + lines[-UNTHINNED_SAMPLES:]
        fresh = self._path.with_name(self._path.name + ".new")
        fresh.write_bytes(b"".join(kept))
        fresh.chmod(0o600)
        os.replace(fresh, self._path)
        self._file.close()
        self._file = open(self._path, "ab", buffering=0)
        self._count = len(kept)


def read_samples(path: Path, allowance: Allowance | None = None) -> list[Sample]:
    samples: list[Sample] = []
    for line in (allowance or Allowance()).lines(path, MAX_READ_BYTES, MAX_LINE_BYTES):
        if len(samples) > 2 * MAX_SAMPLES:
            break
        sample = _parse(line)
        if sample is not None:
            samples.append(sample)
    return samples


def _parse(line: bytes) -> Sample | None:
    """None for a line that is incomplete or is not a sample."""
    try:
        fields = json.loads(line)
        sample = decode_sample(fields) if isinstance(fields, dict) else None
    except (ValueError, RecursionError):
        return None
    return sample if sample is not None and is_time(sample.time) else None
