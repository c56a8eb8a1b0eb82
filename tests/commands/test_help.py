"""Every verb explains itself, with an example, on one screen of 80 columns."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from laststep import __version__
from laststep.cli import _verbs

VERBS = _verbs()


def test_the_promised_verbs_are_there():
    assert {"run", "why", "explain", "rules", "runs", "demo"} <= set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_help_has_an_example(laststep, verb):
    result = laststep(verb, "--help")
    assert result.returncode == 0
    assert result.stderr == ""
    _, _, examples = result.stdout.partition("example:\n")
    assert f"  laststep {verb}" in examples


@pytest.mark.parametrize("verb", [*VERBS, None])
def test_help_fits_into_80_columns(laststep, verb):
    shown = laststep(*[verb] if verb else [], "--help").stdout
    assert [line for line in shown.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_laststep_alone_lists_the_verbs(laststep, words):
    result = laststep(*words)
    assert result.returncode == 0
    for verb in VERBS:
        assert f"\n  {verb} " in result.stdout
    assert "laststep run python train.py" in result.stdout
    assert "laststep why" in result.stdout


def test_version(laststep):
    assert laststep("--version").stdout == f"laststep {__version__}\n"


def test_unknown_verb_names_those_there_are(laststep, one_line):
    line = one_line(laststep("wy"))
    assert "unknown verb wy;" in line
    assert all(verb in line for verb in VERBS)


def test_the_verb_probe_has_a_new_name(laststep, one_line):
    assert one_line(laststep("probe", "--seconds", "60")) == "laststep: `laststep probe` is now `laststep tune`"


@pytest.mark.parametrize("verb", ["run", "profile"])
def test_without_a_command_an_example_is_given(laststep, one_line, verb):
    line = one_line(laststep(verb))
    assert line == f"laststep {verb}: missing command, e.g. `laststep {verb} python train.py`"


def test_the_command_itself_is_installed():
    command = Path(sys.executable).parent / "laststep"
    shown = subprocess.run([command, "--version"], capture_output=True, check=True, text=True).stdout
    assert shown == f"laststep {__version__}\n"


@pytest.mark.parametrize("verb", ["rules", "--help"])
def test_a_reader_that_goes_away_is_no_error(verb, environ):
    """`laststep rules | head -1`"""
    process = subprocess.Popen(
        [sys.executable, "-m", "laststep", verb], env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    stderr = process.stderr.read()
    process.wait(30)
    assert b"Traceback" not in stderr
    assert b"BrokenPipe" not in stderr
