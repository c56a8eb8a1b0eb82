"""What a command asks of the recorder arrives as it was asked, whatever stands in a path."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from laststep.supervisor.command import recorded_environment

TELL = "import json; from laststep.recorder import state; print(json.dumps(state.current.options))"
TELL_AFTER_EXEC = f"import os, sys; os.execv(sys.executable, [sys.executable, '-c', {TELL!r}])"
ASKED = {"replay": "/runs/lr=0.1;batch=32;/训练 {}/'\"\n/kept.npz", "seconds": "120.0", "raw": "\udcff"}


@pytest.mark.parametrize("code", [TELL, TELL_AFTER_EXEC], ids=["started", "after exec"])
def test_a_path_may_hold_any_character(tmp_path: Path, code: str) -> None:
    folder = tmp_path / "a;b=c"
    folder.mkdir()
    command = [sys.executable, "-c", code]
    data = subprocess.check_output(command, env=recorded_environment(folder, ASKED), cwd=tmp_path, text=True)
    assert json.loads(data) == ASKED
