"""What the command names: scripts with a name like that of one that is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from laststep.supervisor.command import similar_scripts


@pytest.mark.parametrize(
    ("named", "there", "similar"),
    [
        ("trian.py", ("train.py", "model.py"), ["train.py"]),
        ("trian.py", ("train.py", "trial.py"), ["train.py", "trial.py"]),
        ("main.py", ("train.py",), ["train.py"]),  # the only one
        ("main.py", ("evaluate.py", "predict.py"), []),
        ("train.py", ("train.py", "trian.py"), []),
    ],
)
def test_similar_names_are_found(
    named: str, there: tuple[str, ...], similar: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in there:
        Path(name).touch()
    assert sorted(similar_scripts(["python", named, "--epochs", "3"])) == similar


def test_a_folder_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert similar_scripts(["python", str(tmp_path / "runs" / "train.py")]) == []
