"""What is recorded is readable by its owner only, and holds no secrets that we were given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SECRET = "hunter2-and-more"


def everything_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    "words",
    [
        (f"--api-key={SECRET}",),
        ("--api-key", SECRET),
        (f"--token={SECRET}",),
        ("--hf_token", SECRET),
        (f"--db.password={SECRET}",),
        ("--PASSWORD", SECRET),
        (f"aws_secret_access_key={SECRET}",),
    ],
    ids=lambda words: words[0].split("=")[0],
)
def test_secrets_in_the_command_are_hidden(laststep, here, words):
    """From the record and from the page; the program gets them as they are."""
    (here / "take.py").write_text(f"import sys\nassert {SECRET!r} in ' '.join(sys.argv)\nsys.exit(3)\n")
    result = laststep("run", "python", "take.py", *words, "--epochs", "3")
    assert result.returncode == 3
    assert SECRET.encode() not in everything_in(here / ".laststep")
    assert SECRET not in result.stderr
    assert "--epochs" in laststep("why", "--json").stdout


def test_words_that_only_look_like_secrets_are_shown(laststep):
    laststep("run", "--quiet", "python", "prog.py", "3", "--tokenizer=bert", "--max-tokens", "512", "--author", "me")
    command = json.loads(laststep("why", "--json").stdout)["run"]["command"]
    assert command[3:] == ["--tokenizer=bert", "--max-tokens", "512", "--author", "me"]


def test_the_environment_is_not_stored_but_for_what_matters(laststep, here):
    environ = {"MY_SETTING": SECRET, "TF_API_KEY": SECRET, "TF_NUM_INTRAOP_THREADS": "3"}
    laststep("run", "--quiet", "prog.py", env=environ)
    stored = everything_in(here / ".laststep")
    assert SECRET.encode() not in stored
    assert b"MY_SETTING" not in stored
    assert b'"TF_NUM_INTRAOP_THREADS":"3"' in stored


def test_only_the_owner_may_look(laststep, here, runs_in):
    laststep("run", "--quiet", "prog.py", "3")
    assert (here / ".laststep").stat().st_mode & 0o777 == 0o700
    assert runs_in()[0].stat().st_mode & 0o777 == 0o700
    files = [*runs_in()[0].rglob("*")]
    assert {"supervisor.jsonl", "console", "samples.jsonl"} <= {path.name for path in files}
    assert [path for path in files if path.stat().st_mode & 0o077] == []


def test_git_does_not_see_it(laststep, here):
    laststep("run", "--quiet", "prog.py")
    assert (here / ".laststep" / ".gitignore").read_text() == "*\n"
