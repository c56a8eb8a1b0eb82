"""laststep runs: what was recorded here, newest first; damaged ones named; old ones let go."""

from __future__ import annotations

import unicodedata

import pytest


def test_none_yet(laststep):
    result = laststep("runs")
    assert result.returncode == 0
    assert result.stdout == ""
    assert "laststep run python train.py" in result.stderr


def test_newest_first_with_outcome_and_cause(laststep, runs_in):
    laststep("run", "--quiet", "prog.py")
    laststep("run", "--quiet", "prog.py", "3")
    laststep("run", "--quiet", "python", "-c", "import os; os.kill(os.getpid(), 9)")
    lines = laststep("runs").stdout.splitlines()
    assert len(lines) == len(runs_in()) == 3
    assert [line.split()[1] for line in lines] == ["stopped", "stopped", "finished"]
    assert [line.split()[2] for line in lines[:2]] == ["killed-by-signal", "script-exited"]
    assert "finished (no training) " in lines[2]
    assert {line.split()[0] for line in lines} == {folder.name for folder in runs_in()}


def test_lines_fit_and_still_show_the_script(laststep):
    laststep("run", "--quiet", "prog.py", "3")
    line = laststep("runs").stdout.rstrip("\n")
    assert len(line) <= 80
    assert "prog.py" in line


@pytest.mark.parametrize("content", [b"", b"\0\0\0", b"\xff\xfe{{{\n", b'{"laststep":1,"source":"supervisor"}\n'])
def test_a_damaged_folder_is_named_and_the_others_are_shown(laststep, here, content):
    laststep("run", "--quiet", "prog.py")
    folder = here / ".laststep" / "20200101-000000-dead"
    folder.mkdir()
    (folder / "supervisor.jsonl").write_bytes(content)
    result = laststep("runs")
    assert result.returncode == 0
    assert "Traceback" not in result.stderr
    assert sorted(line.split()[1] for line in result.stdout.splitlines()) == ["damaged", "finished"]


def test_a_folder_with_nonsense_in_it_does_not_hide_the_others(laststep, here):
    laststep("run", "--quiet", "prog.py")
    folder = here / ".laststep" / "20200101-000000-dead"
    folder.mkdir()
    nonsense = '{"laststep":1,"source":"supervisor"}\n{"t":1,"kind":"run","data":{"command":5}}\n'
    (folder / "supervisor.jsonl").write_text(nonsense)
    result = laststep("runs")
    assert "Traceback" not in result.stderr
    assert result.returncode == 0
    assert len(result.stdout.splitlines()) == 2


def test_what_is_no_run_is_not_listed(laststep, here):
    laststep("run", "--quiet", "prog.py")
    (here / ".laststep" / "notes.txt").write_text("mine")
    (here / ".laststep" / "empty").mkdir()
    assert len(laststep("runs").stdout.splitlines()) == 1


def test_prune_keeps_the_newest(laststep, here, runs_in):
    for _ in range(4):
        laststep("run", "--quiet", "prog.py")
    newest = [line.split()[0] for line in laststep("runs").stdout.splitlines()][:2]
    result = laststep("runs", "--prune", "--keep-runs", "2")
    assert result.returncode == 0
    assert result.stdout == "2 runs deleted\n"
    assert {folder.name for folder in runs_in()} == set(newest)


def test_prune_by_size(laststep, runs_in):
    laststep("run", "--quiet", "prog.py")
    laststep("run", "--quiet", "prog.py")
    assert laststep("runs", "--prune", "--keep-size", "1 B").stdout == "2 runs deleted\n"
    assert runs_in() == []


def test_prune_within_the_limits_deletes_nothing(laststep, runs_in):
    laststep("run", "--quiet", "prog.py")
    assert laststep("runs", "--prune").stdout == "0 runs deleted\n"
    assert len(runs_in()) == 1


def test_prune_leaves_alone_what_is_no_run(laststep, here):
    laststep("run", "--quiet", "prog.py")
    (here / ".laststep" / "notes.txt").write_text("mine")
    (here / ".laststep" / "results").mkdir()
    laststep("runs", "--prune", "--keep-runs", "0")
    assert (here / ".laststep" / "notes.txt").read_text() == "mine"
    assert (here / ".laststep" / "results").is_dir()


@pytest.mark.parametrize("number", ["-1", "many"])
def test_a_limit_that_is_none_deletes_nothing(laststep, runs_in, number):
    laststep("run", "--quiet", "prog.py")
    result = laststep("runs", "--prune", "--keep-runs", number)
    assert result.returncode != 0
    assert "Traceback" not in result.stderr
    assert len(runs_in()) == 1


def test_wide_letters_do_not_make_a_line_longer_than_the_terminal(laststep, here):
    name = "训练模型的数据增强与学习率调度"
    (here / f"{name}.py").write_text("")
    laststep("run", "--quiet", "python", f"{name}.py", name * 3)
    [line] = laststep("runs", env={"COLUMNS": "80"}).stdout.splitlines()
    assert name[:3] in line
    assert sum(2 if unicodedata.east_asian_width(letter) == "W" else 1 for letter in line) in (79, 80)
