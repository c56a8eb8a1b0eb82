"""One real program with TensorFlow, recorded once; what it printed as JSON lines, and its run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import laststep
from laststep.record.events.process import ProbeState
from laststep.record.folder import find_run
from laststep.record.run import Run

SRC = str(Path(laststep.__file__).parents[1])
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
SAY = """
import json, sys, time
def say(name, **data):
    print(json.dumps({"name": name, **data}), flush=True)
"""


def record(folder: Path, code: str, recorded: bool = True, **env: str) -> tuple[dict[str, Any], Run]:
    """({name: the fields printed under that name}, the run)."""
    (folder / "train.py").write_text(SAY + code)
    inside = [sys.executable, "-m", "laststep", "run", "--quiet"] if recorded else []
    ended = subprocess.run(
        [*inside, sys.executable, "train.py"], capture_output=True, text=True, cwd=folder, timeout=120,
        env={**os.environ, **QUIET, "PYTHONPATH": SRC, **env},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-3000:]
    printed = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith('{"name"')]
    if not recorded:
        return {line["name"]: line for line in printed}, Run(id="bare")
    run = Run.load(find_run(None, str(folder / ".laststep")))
    failed = [event for event in run.all(ProbeState) if event.state in ("failed", "removed")]
    assert failed == [], f"the guard swallowed something: {failed}"
    return {line["name"]: line for line in printed}, run


def line_of(code: str, mark: str) -> int:
    """The number of the line that ends with # <- mark, in the program as it is run."""
    (number,) = [at for at, line in enumerate((SAY + code).splitlines(), 1) if line.endswith(f"# <- {mark}")]
    return number
