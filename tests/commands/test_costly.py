"""No folder and no log takes more than some seconds and some memory; what was not read is said."""

from __future__ import annotations

import gzip
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from laststep.record.claim import start_time

pytestmark = pytest.mark.slow  # many processes

SECONDS, MEGABYTES = 5, 500


def event(kind: str, **data: object) -> bytes:
    return json.dumps({"t": 3.0, "kind": kind, "data": data}).encode() + b"\n"


def stranger(here: Path, name: str = "run", content: bytes = b"") -> Path:
    folder = here / "stranger"
    folder.mkdir()
    began = event("run", command=["x"], cwd="/x", host=os.uname().nodename) + event("recorder")
    (folder / "supervisor.jsonl").write_bytes(b'{"laststep": 1, "source": "supervisor"}\n' + began)
    (folder / name).write_bytes(content)
    return folder


def asked(environ: dict[str, str], *words: str) -> subprocess.CompletedProcess[bytes]:
    """Within the bounds, which the kernel keeps: more memory or processor time than that, and it fails."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, ((MEGABYTES + 100) << 20,) * 2)  # and what Python itself maps
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))

    command = [sys.executable, "-m", "laststep", *words]
    result = subprocess.run(command, env=environ, capture_output=True, timeout=60, preexec_fn=limit, check=False)
    assert result.returncode >= 0, words
    assert b"Traceback" not in result.stderr
    assert b"MemoryError" not in result.stdout + result.stderr
    return result


FILES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "fits": ("recorder.1.jsonl", lambda: b"".join(event("fit", id=n) for n in range(20_000))),
    "one fit over and over": (
        "recorder.1.jsonl",
        lambda: event("fit", id=1) * 100_000 + event("epoch", fit=1) * 100_000,
    ),
    "samples": ("samples.jsonl", lambda: b'{"t": 1.0, "rss": 1}\n' * (3 << 20)),
    "samples of tables": ("samples.jsonl", lambda: (b'{"t":1.0,"disks":[' + b'{"":0},' * 5000 + b"0]}\n") * 1800),
    "newlines": ("console", lambda: b"\n" * (64 << 20)),
    "events": ("recorder.1.jsonl", lambda: event("exception", message="x") * 1_500_000),
    "looks": ("recorder.1.jsonl", lambda: event("gradients", site=1) + event("numbers", site=1) * 1_000_000),
    "one trace under many names": (
        "recorder.1.jsonl",
        lambda: (
            b"".join(event("gradients", site=1, variables=[{"name": f"{n}"}]) for n in range(2000))
            + event("numbers", site=1, weights={"0": 1.0}) * 20_000
        ),
    ),
    "steps": ("steps.1", lambda: b"LSTEPS01\x40".ljust(4096, b"\0") + b"\1\0\0\0\0\0\0\0" * (8 << 20)),
}
CUT = {"one fit over and over", "samples", "samples of tables", "events", "looks"}


@pytest.mark.parametrize("name", FILES)
def test_a_folder_has_its_bounds(here, environ, name):
    file, content = FILES[name]
    folder = stranger(here, file, content())
    result = asked(environ, "why", str(folder))
    assert result.returncode == 0, result.stderr
    assert (b"is too large: read up to" in b" ".join(result.stdout.split())) == (name in CUT)
    answer = json.loads(asked(environ, "why", "--json", str(folder)).stdout)
    assert ("too_large" in answer) == (name in CUT)


def test_a_pipe_in_place_of_the_steps_is_not_waited_for(here, environ):
    folder = stranger(here, "recorded", f"1 {start_time(1)}".encode())
    os.mkfifo(folder / "steps.1")
    assert asked(environ, "watch", "--once", str(folder)).returncode == 0
    assert asked(environ, "why", str(folder)).returncode == 0


def test_a_packed_log_is_read_up_to_a_bound(here, environ):
    with gzip.open(here / "bomb.gz", "wb") as bomb:
        for _ in range(400):
            bomb.write(b"x" * 99 + b"\n" + b"a\n" * (1 << 19))
    result = asked(environ, "diagnose", str(here / "bomb.gz"))
    assert result.returncode == 0
    assert b"it is too large: read up to line" in result.stdout


def test_of_a_long_log_the_end_is_read(here, environ):
    """And the lines are still counted."""
    with open(here / "long.log", "wb") as log:
        log.write(b"\n" * (300 << 20))
        log.write(b'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\nValueError: no\n')
    result = asked(environ, "diagnose", str(here / "long.log"))
    assert b"in the middle were skipped" in b" ".join(result.stdout.split())
    assert b"unhandled-exception" in result.stdout
    assert f"{(300 << 20) + 3:,} lines".encode() in result.stdout


@pytest.mark.parametrize("verb", ["why", "diagnose", "watch"])
def test_a_path_that_cannot_be_had_is_one_line(here, laststep, one_line, verb):
    (here / "loop").symlink_to("loop")
    for path in ("./loop", "./" + "a" * 300, "/proc/self/mem" if verb == "diagnose" else "./nothing"):
        one_line(laststep(verb, path))
