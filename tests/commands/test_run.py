"""laststep run: starts what it was asked to start, and gives back the program's own end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest


@pytest.mark.parametrize("words", [(), ("--",), ("--quiet",), ("--quiet", "--")])
def test_no_command(laststep, one_line, words, here):
    result = laststep("run", *words)
    assert "laststep run python train.py" in one_line(result)
    assert result.returncode == 2
    assert not (here / ".laststep").exists()


def test_a_missing_command_is_127(laststep, one_line):
    result = laststep("run", "no-such-command", "x")
    assert "no-such-command" in one_line(result)
    assert result.returncode == 127


def test_a_command_that_cannot_be_executed_is_126(laststep, one_line, here):
    (here / "notes").write_text("not a program")
    result = laststep("run", "./notes")
    assert "./notes" in one_line(result)
    assert result.returncode == 126


def test_a_folder_is_no_command(laststep, one_line):
    result = laststep("run", "/")
    one_line(result)
    assert result.returncode == 126


def test_what_never_started_leaves_no_run_behind(laststep, one_line, runs_in):
    laststep("run", "--quiet", "prog.py", "3")
    laststep("run", "no-such-command")
    assert len(runs_in()) == 1
    assert "sys.exit(3)" in laststep("why").stdout


@pytest.mark.parametrize("code", [0, 1, 2, 127, 130, 255])
def test_exit_codes_pass_through(laststep, code):
    result = laststep("run", "python", "prog.py", str(code))
    assert result.returncode == code
    assert result.stdout == f"hello {code}\n"


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGSEGV", "SIGABRT", "SIGHUP"])
def test_death_by_a_signal_is_death_by_that_signal(laststep, name):
    result = laststep("run", "--quiet", "python", "-c", f"import os, signal; os.kill(os.getpid(), signal.{name})")
    assert result.returncode == -getattr(signal, name)


def test_a_script_gets_a_python(laststep, here):
    result = laststep("run", "prog.py", "5")
    assert result.returncode == 5
    assert result.stdout == "hello 5\n"


def test_a_script_in_a_folder_gets_a_python(laststep, here):
    (here / "src").mkdir()
    (here / "prog.py").rename(here / "src" / "prog.py")
    assert laststep("run", "src/prog.py", "5").returncode == 5


def test_a_script_that_names_its_own_interpreter_is_run_by_it(laststep, here):
    script = here / "own.py"
    script.write_text("#!/bin/sh\necho from the shell\n")
    script.chmod(0o755)
    assert laststep("run", "--quiet", "./own.py").stdout == "from the shell\n"


def test_a_module(laststep, here):
    result = laststep("run", "-m", "prog", "4")
    assert result.returncode == 4
    assert result.stdout == "hello 4\n"
    assert "prog.py:3" in laststep("why").stdout


def test_a_module_in_a_package_after_options(laststep, here):
    package = here / "training"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (here / "prog.py").rename(package / "main.py")
    assert laststep("run", "--quiet", "-m", "training.main", "4").returncode == 4
    assert laststep("run", "--quiet", "--", "-m", "training.main", "4").returncode == 4


def test_options_after_the_command_are_the_program_s(laststep, here):
    (here / "echo.py").write_text("import sys\nprint(sys.argv[1:])\n")
    result = laststep("run", "python", "echo.py", "--quiet", "--dir", "x", "--help", "--", "-m", "y")
    assert result.stdout == "['--quiet', '--dir', 'x', '--help', '--', '-m', 'y']\n"


def test_standard_input_reaches_the_program(laststep):
    assert laststep("run", "--quiet", "python", "-c", "print(input()[::-1])", stdin="abc\n").stdout == "cba\n"


def test_output_passes_byte_for_byte(environ, here):
    code = "import os; os.write(1, bytes(range(256)) * 300); os.write(2, b'\\xff\\r\\x00end')"
    run = [sys.executable, "-m", "laststep", "run", "--quiet", "python", "-c", code]
    result = subprocess.run(run, cwd=here, env=environ, capture_output=True, timeout=60, check=False)
    assert result.stdout == bytes(range(256)) * 300
    assert result.stderr == b"\xff\r\x00end"


def test_a_healthy_training_gets_one_quiet_line(laststep, here, runs_in):
    (here / "loop.py").write_text("import laststep\nfor _ in range(5): laststep.step(loss=1.0)\n")
    result = laststep("run", "loop.py")
    assert result.stderr == f"laststep: finished, nothing to report ({runs_in()[0].name})\n"


def test_the_answer_goes_to_stderr_after_the_end(laststep):
    result = laststep("run", "prog.py", "3")
    assert result.stdout == "hello 3\n"
    assert "script-exited" in result.stderr
    assert "prog.py:3" in result.stderr


def test_quiet_says_nothing_and_records_all(laststep):
    result = laststep("run", "--quiet", "prog.py", "3")
    assert result.stderr == ""
    assert result.stdout == "hello 3\n"
    assert "script-exited" in laststep("why").stdout


@pytest.mark.parametrize("flag", ["-I", "-E", "-S"])
def test_a_python_that_cannot_be_looked_into_is_said_to_be_so(laststep, flag):
    """It runs all the same, and what is seen from outside is shown."""
    result = laststep("run", "--", "python", flag, "prog.py", "6")
    assert result.returncode == 6
    assert result.stdout == "hello 6\n"
    page = " ".join(result.stderr.split())
    assert "could not look inside" in page
    assert f"python {flag}" in page


def test_a_program_that_is_no_python(laststep):
    result = laststep("run", "sh", "-c", "exit 7")
    assert result.returncode == 7
    assert "could not look inside: sh" in " ".join(result.stderr.split())


def test_what_was_not_seen_is_not_denied(laststep):
    """The shell kills itself, and was not recorded from inside: the page must not say that it did not."""
    result = laststep("run", "sh", "-c", "kill -9 $$")
    assert result.returncode == -signal.SIGKILL
    assert "did not send it" not in " ".join(result.stderr.split())


def test_the_program_s_own_sitecustomize_still_runs(laststep, here):
    """Whatever stands in front of it, the user's own comes to its turn."""
    mine = here / "mine"
    mine.mkdir()
    (mine / "sitecustomize.py").write_text("import builtins\nbuiltins.MINE = 42\n")
    code = "import os, sys; print(MINE, os.environ.get('PYTHONPATH'), any('laststep' in p for p in sys.path))"
    result = laststep("run", "--quiet", "python", "-c", code, env={"PYTHONPATH": str(mine)})
    assert result.stdout.split()[:2] == ["42", str(mine)], result.stderr


def test_the_environment_is_the_same_as_without(laststep, here):
    code = "import os; print(sorted((k, v) for k, v in os.environ.items() if k not in ('_', 'SHLVL', 'PWD', 'OLDPWD')))"
    with_us = laststep("run", "--quiet", "python", "-c", code).stdout
    without = laststep("run", "--quiet", "python", "-c", code, env={"LASTSTEP_OFF": "1"}).stdout
    assert with_us == without.replace("('LASTSTEP_OFF', '1'), ", "")


def test_a_python_started_by_a_shell_is_looked_into(laststep):
    result = laststep("run", "sh", "-c", "echo start; python prog.py 3")
    assert result.returncode == 3
    assert "sys.exit(3)" in result.stderr


def test_off_leaves_nothing_behind(laststep, here):
    result = laststep("run", "prog.py", "3", env={"LASTSTEP_OFF": "1"})
    assert result.returncode == 3
    assert result.stdout == "hello 3\n"
    assert result.stderr == ""
    assert not (here / ".laststep").exists()


def test_off_still_names_a_missing_command(laststep, one_line):
    assert laststep("run", "no-such-command", env={"LASTSTEP_OFF": "1"}).returncode == 127


def test_the_run_folder_deleted_by_the_program(laststep, here):
    code = "import shutil; shutil.rmtree('.laststep'); print('gone')"
    result = laststep("run", "python", "-c", code)
    assert result.returncode == 0
    assert result.stdout == "gone\n"
    assert "Traceback" not in result.stderr


def test_no_place_for_a_run_folder_and_the_program_runs_bare(laststep):
    result = laststep("run", "prog.py", "3", env={"LASTSTEP_DIR": "/dev/null/x"})
    assert result.returncode == 3
    assert result.stdout == "hello 3\n"
    assert len(result.stderr.splitlines()) == 1
    assert "not recording" in result.stderr


def test_a_working_directory_that_is_gone(laststep, environ, here, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    run = f"cd {gone} && rmdir {gone} && exec {sys.executable} -m laststep run python {here / 'prog.py'} 3"
    result = subprocess.run(["sh", "-c", run], env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in result.stderr
    assert result.returncode == 3
    assert result.stdout == "hello 3\n"


def _stopped_by_permissions(command: list[str]) -> list[str] | None:
    """The command as a user whom a read-only folder stops: root without the capability to override that."""
    if os.geteuid() != 0:
        return command
    meek = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
    try:
        tried = subprocess.run([*meek[:2], sys.executable, "-c", "import laststep"], capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return meek if tried.returncode == 0 else None


def test_a_read_only_working_directory(environ, here, tmp_path):
    """The record goes to the user's data directory, and why finds it there."""
    data = tmp_path / "data"
    environ = {**environ, "XDG_DATA_HOME": str(data)}
    run = _stopped_by_permissions([sys.executable, "-m", "laststep", "run", "python", "prog.py", "3"])
    why = _stopped_by_permissions([sys.executable, "-m", "laststep", "why"])
    if run is None or why is None:
        pytest.skip("root, and no setpriv to give up the right to write into read-only folders")
    here.chmod(0o555)
    try:
        result = subprocess.run(run, cwd=here, env=environ, capture_output=True, text=True, timeout=60, check=False)
        answer = subprocess.run(why, cwd=here, env=environ, capture_output=True, text=True, timeout=60, check=False)
    finally:
        here.chmod(0o755)
    assert result.stdout == "hello 3\n", result.stderr
    assert result.returncode == 3
    assert "script-exited" in result.stderr
    assert not (here / ".laststep").exists()
    assert len([path for path in (data / "laststep").iterdir() if path.is_dir()]) == 1
    assert "sys.exit(3)" in answer.stdout, answer.stderr
