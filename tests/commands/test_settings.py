"""Settings: an option beats LASTSTEP_*, which beats [tool.laststep], which beats the default."""

from __future__ import annotations

import pytest


def pyproject(here, text):
    (here / "pyproject.toml").write_text(f"[tool.laststep]\n{text}\n")


def test_laststep_dir(laststep, here, runs_in, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    laststep("run", "--quiet", "prog.py", "3", env={"LASTSTEP_DIR": str(elsewhere)})
    assert len(runs_in(elsewhere)) == 1
    assert not (here / ".laststep").exists()
    assert "sys.exit(3)" in laststep("why", env={"LASTSTEP_DIR": str(elsewhere)}).stdout
    assert "sys.exit(3)" in laststep("why", "--dir", str(elsewhere)).stdout
    assert len(laststep("runs", "--dir", str(elsewhere)).stdout.splitlines()) == 1


def test_an_option_beats_the_environment_beats_the_file(laststep, here, runs_in):
    pyproject(here, 'dir = "from-file"')
    laststep("run", "--quiet", "prog.py")
    assert len(runs_in(here / "from-file")) == 1
    laststep("run", "--quiet", "prog.py", env={"LASTSTEP_DIR": "from-environment"})
    assert len(runs_in(here / "from-environment")) == 1
    laststep("run", "--quiet", "--dir", "from-option", "prog.py", env={"LASTSTEP_DIR": "from-environment"})
    assert len(runs_in(here / "from-option")) == 1
    assert len(runs_in(here / "from-environment")) == 1
    assert laststep("why").returncode == 0


def test_the_file_is_found_from_a_folder_below(laststep, here):
    pyproject(here, "quiet = true")
    below = here / "experiments" / "one"
    below.mkdir(parents=True)
    assert laststep("run", "python", "../../prog.py", "3", cwd=below).stderr == ""


def test_a_relative_dir_in_the_file_is_relative_to_the_file(laststep, here, runs_in):
    pyproject(here, 'dir = "records"')
    below = here / "experiments"
    below.mkdir()
    laststep("run", "--quiet", "python", "../prog.py", cwd=below)
    assert len(runs_in(here / "records")) == 1


@pytest.mark.parametrize("value", ["1", "true"])
def test_quiet_by_environment(laststep, value):
    assert laststep("run", "prog.py", "3", env={"LASTSTEP_QUIET": value}).stderr == ""


def test_not_quiet_by_environment(laststep):
    assert "script-exited" in laststep("run", "prog.py", "3", env={"LASTSTEP_QUIET": "0"}).stderr


@pytest.mark.parametrize("name", ["keep-runs", "keep_runs"])
def test_keep_runs_by_file(laststep, here, runs_in, name):
    pyproject(here, f"{name} = 2\nquiet = true")
    for _ in range(3):
        laststep("run", "prog.py")
    assert len(runs_in()) == 2


def test_keep_runs_by_option_and_environment(laststep, runs_in):
    for _ in range(3):
        laststep("run", "--quiet", "prog.py", env={"LASTSTEP_KEEP_RUNS": "2"})
    assert len(runs_in()) == 2
    laststep("run", "--quiet", "--keep-runs", "1", "prog.py", env={"LASTSTEP_KEEP_RUNS": "2"})
    assert len(runs_in()) == 1


def test_keep_size_never_takes_the_run_that_just_ended(laststep, runs_in):
    for _ in range(2):
        laststep("run", "--quiet", "--keep-size", "1 KB", "prog.py", "3")
    assert len(runs_in()) == 1
    assert "sys.exit(3)" in laststep("why").stdout


@pytest.mark.parametrize("size", ["1.5 GB", "500mb"])
def test_sizes_as_people_write_them(laststep, runs_in, size):
    laststep("run", "--quiet", "--keep-size", size, "prog.py")
    assert laststep("run", "--quiet", "--keep-size", size, "prog.py").returncode == 0
    assert len(runs_in()) == 2


@pytest.mark.parametrize("env", [{"LASTSTEP_KEEP_RUNS": "many"}, {"LASTSTEP_KEEP_SIZE": "big"}])
def test_a_bad_setting_is_named(laststep, one_line, env):
    line = one_line(laststep("run", "prog.py", env=env))
    assert next(iter(env)) in line
    assert next(iter(env.values())) in line


def test_a_bad_size_on_the_command_line_is_named_as_it_was_typed(laststep, one_line):
    assert "--keep-size" in one_line(laststep("run", "--keep-size", "big", "prog.py"))


@pytest.mark.parametrize("text", ["not [ toml", "[tool]\nlaststep = 5\n", "\xff"])
def test_somebody_s_broken_pyproject_is_not_ours_to_complain_about(laststep, here, text):
    (here / "pyproject.toml").write_text(text, encoding="latin-1")
    result = laststep("run", "prog.py", "3")
    assert result.returncode == 3
    assert result.stdout == "hello 3\n"
