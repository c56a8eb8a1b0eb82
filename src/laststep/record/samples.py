"""The samples: what the supervisor measured from outside, one line of JSON each, older ones thinned."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from laststep.record.journal import is_time
from laststep.record.reading import Allowance
from laststep.record.sample import Sample, decode_sample

MOST = 8192
NEWEST = 600  # never thinned
MOST_BYTES, LONGEST = 24 << 20, 64 << 10  # that are read


class SampleWriter:
    """Appends samples; every second one of the older goes when the file is full."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = open(path, "ab", buffering=0)
        os.chmod(path, 0o600)
        self._count = 0
        self.stopped: str | None = None

    def write(self, sample: dict[str, Any]) -> None:
        if self.stopped:
            return
        line = json.dumps(sample, separators=(",", ":")).encode() + b"\n"
        try:
            self._file.write(line)
            self._count += 1
            if self._count > MOST:
                self._thin()
        except OSError as error:
            self.stopped = str(error)

    def _thin(self) -> None:
        lines = self._path.read_bytes().splitlines(keepends=True)
        kept = lines[:-NEWEST:2] + lines[-NEWEST:]
        fresh = self._path.with_name(self._path.name + ".new")
        fresh.write_bytes(b"".join(kept))
        fresh.chmod(0o600)
        os.replace(fresh, self._path)
        self._file.close()
        self._file = open(self._path, "ab", buffering=0)
        self._count = len(kept)


def read_samples(path: Path, allowance: Allowance | None = None) -> list[Sample]:
    samples: list[Sample] = []
    for line in (allowance or Allowance()).lines(path, MOST_BYTES, LONGEST):
        if len(samples) > 2 * MOST:
            break
        sample = _parse(line)
        if sample is not None:
            samples.append(sample)
    return samples


def _parse(line: bytes) -> Sample | None:
    """None for a line that is torn or foreign."""
    try:
        fields = json.loads(line)
        sample = decode_sample(fields) if isinstance(fields, dict) else None
    except (ValueError, RecursionError):
        return None
    return sample if sample is not None and is_time(sample.time) else None
