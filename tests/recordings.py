"""Record scenarios anew for tests/recorded/programs.tar.xz: python tests/recordings.py [-j JOBS] [PATTERN …]

Without a pattern: every healthy program, and every program of the diverged rules, near misses included. What is kept
of a run is what rules read, without the machine's paths and name. Those not recorded now stay as they are.
"""

from __future__ import annotations

import argparse
import fnmatch
import io
import os
import re
import shutil
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from laststep.rules.rule import all_rules
from tests import harness

ARCHIVE = Path(__file__).parent / "recorded" / "programs.tar.xz"
KEPT = re.compile(r"supervisor\.jsonl|recorder\.\d+\.jsonl|samples\.jsonl|steps\.\d+|console")
TEXT = (".jsonl", "console")


def wanted(patterns: list[str]) -> list[harness.Scenario]:
    diverged = {rule.name for rule in all_rules().values() if rule.symptom == "diverged"}
    numbers = diverged | {"healthy", "bad-labels-for-loss", "label-out-of-range"}
    found = [asked for asked in harness.all_scenarios() if asked.rule in numbers and not asked.needs]
    return [asked for asked in found if not patterns or any(fnmatch.fnmatch(asked.name, each) for each in patterns)]


def record(asked: harness.Scenario, base: Path) -> dict[str, bytes] | str:
    try:
        ran = harness.run_scenario(asked, base, recorded=True)
    except (AssertionError, harness.CannotRun) as error:
        return str(error)[:200]
    assert ran.folder is not None
    files = {path.name: path.read_bytes() for path in ran.folder.iterdir() if KEPT.fullmatch(path.name)}
    return {name: plain(data, ran.cwd) if name.endswith(TEXT) else data for name, data in files.items()}


def plain(data: bytes, cwd: Path) -> bytes:
    """Nothing of this machine in it, and each line as long as it was: the journal's first has a fixed length."""
    for text, instead in (
        (str(cwd), "/project"), (sys.executable, "python"), (str(harness.SCENARIOS.parents[1]), "/laststep"),
        (sys.prefix, "/python"), (sys.base_prefix, "/base"), (os.uname().nodename, "host"), (os.uname().release, "6"),
    ):  # fmt: skip
        data = data.replace(text.encode(), instead.encode())
    return data


def read_archive() -> dict[str, dict[str, bytes]]:
    runs: dict[str, dict[str, bytes]] = {}
    if ARCHIVE.exists():
        with tarfile.open(ARCHIVE) as archive:
            for member in archive.getmembers():
                name, _, file = member.name.partition("/")
                held = archive.extractfile(member)
                runs.setdefault(name, {})[file] = held.read() if held is not None else b""
    return runs


def write_archive(runs: dict[str, dict[str, bytes]]) -> None:
    with tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
        # Files of one kind beside each other: they are much alike.
        for file, name in sorted((re.sub(r"\d+", "", file), name) for name, files in runs.items() for file in files):
            data = next(held for key, held in runs[name].items() if re.sub(r"\d+", "", key) == file)
            full = next(key for key in runs[name] if re.sub(r"\d+", "", key) == file)
            member = tarfile.TarInfo(f"{name}/{full}")
            member.size, member.mode = len(data), 0o600
            archive.addfile(member, io.BytesIO(data))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("patterns", nargs="*")
    asked = parser.parse_args()
    known = {scenario.name for scenario in harness.all_scenarios()}
    runs = {name: files for name, files in read_archive().items() if name in known}
    base = Path(tempfile.mkdtemp(prefix="laststep-record-"))
    try:
        with ThreadPoolExecutor(asked.j) as pool:
            chosen = wanted(asked.patterns)
            for scenario, files in zip(chosen, pool.map(lambda each: record(each, base), chosen), strict=True):
                print(f"{scenario.name:50} {'recorded' if isinstance(files, dict) else files}", flush=True)
                if isinstance(files, dict):
                    runs[scenario.name] = files
    finally:
        shutil.rmtree(base, ignore_errors=True)
    write_archive(runs)
    print(f"{len(runs)} runs, {ARCHIVE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
