"""A command out of a record is run only if this user recorded it, or after it was shown and confirmed."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from laststep.record.events.supervisor import Launch
from laststep.record.run import Run
from laststep.record.seal import signed, why_not_ours

NOT_HIS = "its signature is not that of this user, this machine and this folder"
LATER = 4_000_000_000.0
# By a child: what a side run itself writes goes into a folder of ours.
EVIL = "import os\nos.system('env > environment; touch executed')\n"


def plant(here: Path, *, mode: int = 0o755, environment: dict[str, str] | None = None, name: str = "planted") -> Path:
    """A folder as anybody could pack it into an archive or a repository."""
    folder = here / ".laststep" / name
    folder.mkdir(parents=True)
    (here / "evil.py").write_text(EVIL)
    launch = {"command": [sys.executable, "evil.py"], "cwd": str(here), "host": os.uname().nodename}
    launch["environment"] = environment or {}
    place = {"file": str(here / "evil.py"), "line": 1}
    fit = {"id": 1, "epochs": 3, "where": place, "optimizer": {"class": "SGD", "learning_rate": 10.0}}
    events = [("run", launch), ("recorder", {}), ("fit", fit), ("bad-number", {"site": 1, "step": 1, "kept": True})]
    events.append(("end", {"code": 0, "signal": None, "seconds": 5.0}))
    lines = [json.dumps({"laststep": 1, "source": "supervisor"})]
    lines += [json.dumps({"t": LATER + n, "kind": kind, "data": data}) for n, (kind, data) in enumerate(events)]
    (folder / "supervisor.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "kept.npz").write_bytes(b"PK\5\6" + bytes(18))
    for path in (folder / "supervisor.jsonl", folder):
        path.chmod(mode if path is folder else mode & 0o666)
    return folder


@pytest.mark.parametrize("mode", [0o755, 0o700], ids=["readable", "private"])
@pytest.mark.parametrize("verb", ["tune", "prove", "replay"])
def test_a_planted_command_is_not_run(laststep, here, verb, mode):
    plant(here, mode=mode)
    result = laststep(verb)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert not (here / "executed").exists()


def test_nor_by_prove_where_there_is_something_to_prove(laststep, here):
    """A real run of the rule learning-rate-too-high, whose launch names another command."""
    folder = here / ".laststep" / "planted"
    folder.mkdir(parents=True)
    with tarfile.open(Path(__file__).parents[1] / "recorded" / "programs.tar.xz") as archive:
        for member in archive.getmembers():
            if member.isfile() and member.name.startswith("learning_rate_too_high/"):
                (folder / Path(member.name).name).write_bytes(archive.extractfile(member).read())
    (here / "evil.py").write_text(EVIL)
    path, lines = folder / "supervisor.jsonl", []
    for line in path.read_text().replace("\0", "").splitlines():
        event = json.loads(line or "{}")
        if event.get("kind") == "run":
            event["data"] |= {"command": [sys.executable, "evil.py"], "cwd": str(here), "host": os.uname().nodename}
        lines.append(json.dumps(event))
    path.write_text("\n".join(lines) + "\n")
    result = laststep("prove", "--seconds", "1")
    assert result.returncode == 2
    assert "planted was not recorded here by you" in result.stderr
    assert not (here / "executed").exists()


@pytest.mark.parametrize("verb", ["tune", "replay"])
def test_it_is_shown_and_the_way_to_run_it_all_the_same(laststep, here, verb):
    plant(here)
    output = laststep(verb).stderr
    assert "planted was not recorded here by you" in output
    assert f"{sys.executable} evil.py (in {here})" in output
    assert "--yes planted" in output


def test_only_the_run_that_was_named_is_confirmed(laststep, here):
    plant(here)
    assert laststep("tune", "--yes", "other", "--seconds", "1").returncode == 2
    assert not (here / "executed").exists()
    laststep("tune", "--yes", "planted", "--seconds", "1")
    assert (here / "executed").exists()


def test_of_the_environment_only_listed_names_are_applied(laststep, here):
    bad = {"LD_PRELOAD": "/x.so", "NCCL_NET_PLUGIN": "/x.so", "LASTSTEP_ASKED": "x", "PATH": "/x", "TF_ANY": "1"}
    bad |= {"XLA_FLAGS": "--xla_gpu_cuda_data_dir=/x", "TF_XLA_FLAGS": "--xla_gpu_cuda_data_dir=y"}
    plant(here, environment=bad | {"OMP_NUM_THREADS": "3"})
    output = laststep("tune", "--yes", "planted", "--seconds", "1")
    seen = (here / "environment").read_text()
    assert "OMP_NUM_THREADS=3\n" in seen
    assert "/x" not in seen, output.stderr
    assert "TF_ANY" not in seen
    assert "data_dir" not in seen


@pytest.mark.parametrize("argument", ["x\n" * 60 + "laststep: it would run: ls", "x" * 2000], ids=["lines", "long"])
def test_a_command_cannot_hide_what_it_is(here, environ, argument):
    """By pushing its beginning off the screen: it stays one line, and what is longer than that is not asked about."""
    journal = plant(here) / "supervisor.jsonl"
    lines = journal.read_text().splitlines()
    launch = json.loads(lines[1])
    launch["data"]["command"].append(argument)
    journal.write_text("\n".join([lines[0], json.dumps(launch), *lines[2:]]) + "\n")
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "laststep", "tune", "--seconds", "1"]
    with subprocess.Popen(command, cwd=here, env=environ, stdin=slave, stdout=slave, stderr=slave) as process:
        os.close(slave)
        os.write(master, b"n\n")
        output = b""
        try:
            while chunk := os.read(master, 4096):
                output += chunk
        except OSError:
            pass
    os.close(master)
    assert process.returncode == 2
    assert b"\r\nlaststep: it would run: ls" not in output
    assert (b"run it? [y/N]" in output) == ("\n" in argument)
    assert not (here / "executed").exists()


@pytest.mark.parametrize("answer", ["y", "n", ""])
def test_on_a_terminal_it_asks(here, environ, answer):
    plant(here)
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "laststep", "tune", "--seconds", "1"]
    with subprocess.Popen(command, cwd=here, env=environ, stdin=slave, stdout=slave, stderr=slave):
        os.close(slave)
        output = b""
        while b"run it? [y/N]" not in output:
            output += os.read(master, 4096)
        assert b"evil.py" in output
        assert not (here / "executed").exists()
        os.write(master, answer.encode() + b"\n")
        try:
            while os.read(master, 4096):
                pass
        except OSError:
            pass
    os.close(master)
    assert (here / "executed").exists() == (answer == "y")


def test_ones_own_run_is_not_asked_about(laststep, here):
    (here / "mine.py").write_text(EVIL)
    laststep("run", "--quiet", "python", "mine.py")
    (here / "executed").unlink()
    output = laststep("tune", "--seconds", "1")
    assert "not recorded here" not in output.stderr
    assert (here / "executed").exists()


@pytest.mark.parametrize("how", ["copied", "edited", "opened to others", "another key", "no key"])
def test_a_run_of_ones_own_that_was_tampered_with_is_asked_about(laststep, here, runs_in, environ, how):
    state = here / "state"
    env = {"XDG_STATE_HOME": str(state)}
    laststep("run", "--quiet", "python", "prog.py", env=env)
    (folder,) = runs_in()
    journal = folder / "supervisor.jsonl"
    if how == "copied":
        shutil.copytree(folder, folder.with_name("other"))
        shutil.rmtree(folder)
    elif how == "edited":
        journal.write_bytes(journal.read_bytes().replace(b"prog.py", b"evil.py"))
    elif how == "opened to others":
        folder.chmod(0o777)
    elif how == "another key":
        (state / "laststep" / "key").write_bytes(bytes(32))
    else:
        (state / "laststep" / "key").unlink()
    assert "was not recorded here by you" in laststep("tune", env=env).stderr


def test_the_key_is_for_its_owner_alone(laststep, here):
    laststep("run", "--quiet", "python", "prog.py", env={"XDG_STATE_HOME": str(here / "state")})
    (key,) = (here / "state" / "laststep").iterdir()
    assert (key.stat().st_mode & 0o777, key.stat().st_size) == (0o600, 32)
    assert key.parent.stat().st_mode & 0o777 == 0o700


def test_without_a_place_for_the_key_the_run_goes_on_unsigned(laststep, here, runs_in):
    (here / "file").write_text("")
    result = laststep("run", "python", "prog.py", env={"XDG_STATE_HOME": str(here / "file")})
    assert (result.returncode, result.stdout) == (0, "hello\n")
    (folder,) = runs_in()
    assert b'"command"' in (folder / "supervisor.jsonl").read_bytes()
    assert "it is not signed" in laststep("tune", env={"XDG_STATE_HOME": str(here / "file")}).stderr


def test_a_signature_holds_for_its_folder_and_time(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    (folder / "supervisor.jsonl").touch(0o600)
    fields = signed({"command": ["a", "\udcff"], "of a later version": 1}, 1.5, folder)

    def asked(time: float = 1.5, **others: object) -> str:
        line = json.dumps({"t": time, "kind": "run", "data": {**fields, **others}})
        (folder / "supervisor.jsonl").write_text(f"{line}\n")
        return why_not_ours(Run.load(folder).first(Launch), folder)

    assert asked() == ""
    assert asked(time=1.6) == NOT_HIS
    assert asked(cwd="/") == NOT_HIS
    assert asked(**{"of a later version": 2}) == NOT_HIS
    assert asked(signature=3) == "it is not signed"
    asked()
    folder = folder.rename(tmp_path / "other")
    assert asked() == NOT_HIS


def test_a_launch_is_not_covered_by_the_signature_of_another(tmp_path):
    """A journal of the program's own may hold a launch too, and one that is older than the real one."""
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    (folder / "supervisor.jsonl").touch(0o600)
    real = signed({"command": ["true"]}, 1.5, folder)
    planted = {**real, "command": ["evil"]}
    (folder / "supervisor.jsonl").write_text(json.dumps({"t": 1.5, "kind": "run", "data": real}) + "\n")
    (folder / "recorder.1.jsonl").write_text(json.dumps({"t": 1.4, "kind": "run", "data": planted}) + "\n")
    run = Run.load(folder)
    assert run.command == ["evil"]
    assert "supervisor" in why_not_ours(run.first(Launch), folder)
    assert why_not_ours(run.all(Launch)[1], folder) == ""
