"""Recordings of all scenarios, in tests/recorded/programs.tar.xz. To record: make recordings [NAMES="early_stopping*"]

Without a name: those that are missing, or whose program was changed since. What is kept of a run is what rules read,
without the machine's paths and name, and the program as it was. A run with another answer than expected is not kept.
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
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests import harness
from tests.answers import ON_A_RECORDING, Answer, check_all, read_answer
from tests.known import KNOWN_DEFECTS

ARCHIVE = Path(__file__).parent / "recorded" / "programs.tar.xz"
KEPT = re.compile(r"supervisor\.jsonl|recorder\.\d+\.jsonl|samples\.jsonl|steps\.\d+(-\d+)?|console(\.old)?")
TEXT = (".jsonl", "console", "console.old")
PROGRAM = "train.py"
CWD = "/project"  # where it was run, as the recording says
INSTALLED = "/python/lib/python3.11/site-packages"

Files: TypeAlias = dict[str, bytes]


def read_archive(path: Path = ARCHIVE) -> dict[str, Files]:
    runs: dict[str, Files] = {}
    with tarfile.open(fileobj=io.BytesIO(path.read_bytes())) as archive:
        for member in archive:
            name, _, file = member.name.partition("/")
            held = archive.extractfile(member)
            assert held is not None
            runs.setdefault(name, {})[file] = held.read()
    return runs


def write_archive(runs: Mapping[str, Files], path: Path = ARCHIVE) -> None:
    with tarfile.open(path, "w:xz", preset=9) as archive:
        for name, file in sorted(((run, each) for run, files in runs.items() for each in files), key=_neighbours):
            member = tarfile.TarInfo(f"{name}/{file}")
            member.size, member.mode = len(runs[name][file]), 0o600
            archive.addfile(member, io.BytesIO(runs[name][file]))


def _neighbours(entry: tuple[str, str]) -> tuple[str, str, str]:
    """Files of one kind beside each other: they are much alike."""
    name, file = entry
    return re.sub(r"\d+", "", file), name, file


def unpack(files: Files, folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


class Recordings:
    """The runs of the archive; each is unpacked when it is asked for."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self.runs = read_archive()

    def folder(self, name: str) -> Path:
        folder = self._base / name
        return folder if folder.exists() else unpack(self.runs[name], folder)

    def answer(self, name: str) -> Answer:
        return read_answer(self.folder(name), CWD)


def recorded_scenario(name: str, files: Files) -> harness.Scenario:
    """The scenario as it was when it was recorded."""
    return harness.parse_scenario(name, files[PROGRAM].decode())


def record(asked: harness.Scenario, base: Path) -> Files | str:
    """The files of a run that is answered as expected, or what went wrong."""
    try:
        ran = harness.run_scenario(asked, base / asked.name, recorded=True)
        assert ran.folder is not None
        files = {path.name: path.read_bytes() for path in ran.folder.iterdir() if KEPT.fullmatch(path.name)}
        files = {name: plain(data, ran.cwd) if name.endswith(TEXT) else data for name, data in files.items()}
        files[PROGRAM] = asked.source.encode()
        if asked.name not in KNOWN_DEFECTS:
            check_all(ON_A_RECORDING, asked, read_answer(unpack(files, base / "plain" / asked.name), CWD))
        shutil.rmtree(ran.cwd)
    except (AssertionError, harness.CannotRun) as error:
        return f"NOT KEPT: {error}"
    return files


def plain(data: bytes, cwd: Path) -> bytes:
    """Nothing of this machine in it, and laststep as if it were installed."""
    root = harness.SCENARIOS.parents[1]
    for text, instead in (
        (str(cwd), CWD), (sys.executable, "python"), (str(root / "src"), INSTALLED), (str(root), "/laststep"),
        (sys.prefix, "/python"), (sys.base_prefix, "/base"), (os.uname().nodename, "host"), (os.uname().release, "6"),
    ):  # fmt: skip
        data = data.replace(text.encode(), instead.encode())
    return data


def chosen(patterns: list[str], runs: Mapping[str, Files]) -> list[harness.Scenario]:
    if patterns:
        return [asked for asked in harness.all_scenarios() if any(fnmatch.fnmatch(asked.name, one) for one in patterns)]
    return [asked for asked in harness.all_scenarios() if not is_recorded(asked, runs)]


def is_recorded(asked: harness.Scenario, runs: Mapping[str, Files]) -> bool:
    return asked.name in runs and recorded_scenario(asked.name, runs[asked.name]).program == asked.program


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-j", type=int, default=2, help="how many at once")
    parser.add_argument("patterns", nargs="*", help="names of scenarios, such as 'early_stopping*'")
    asked = parser.parse_args()
    harness.default_signals()
    known = {scenario.name for scenario in harness.all_scenarios()}
    runs = {name: files for name, files in read_archive().items() if name in known}
    base = Path(tempfile.mkdtemp(prefix="laststep-record-"))
    scenarios = chosen(asked.patterns, runs)
    failed = 0
    with ThreadPoolExecutor(asked.j) as pool:
        for scenario, files in zip(scenarios, pool.map(lambda each: record(each, base), scenarios), strict=True):
            print(f"{scenario.name:50} {'recorded' if isinstance(files, dict) else files}", flush=True)
            if isinstance(files, dict):
                runs[scenario.name] = files
            else:
                failed += 1
    shutil.rmtree(base, ignore_errors=True)
    write_archive(runs)
    print(f"{len(runs)} runs, {ARCHIVE.stat().st_size:,} bytes")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
