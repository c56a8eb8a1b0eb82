"""Where runs lie: made for us alone, found by beginning or path, the oldest let go, a living one never."""

from __future__ import annotations

import os
import subprocess
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from laststep.record import folder as folders
from laststep.record import journal as journals
from laststep.record.claim import CLAIM, start_time
from laststep.record.folder import NoSuchRun, create_run, find_run, is_busy, list_runs, prune, size_of
from laststep.record.journal import JournalWriter
from laststep.supervisor.launch import open_journal

from .conftest import Mount


@pytest.fixture(autouse=True)
def _own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.delenv("LASTSTEP_DIR", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def make_run(home: Path, name: str, began: float, size: int = 0) -> Path:
    """A finished run."""
    folder = home / name
    folder.mkdir(parents=True)
    journal = JournalWriter(folder / folders.SUPERVISOR_JOURNAL, "supervisor")
    journal.write("run", {"command": ["x"]}, at=began)
    journal.close()
    if size:
        (folder / "console").write_bytes(os.urandom(size))
    return folder


def test_a_run_folder_is_ours_alone_and_git_does_not_see_it() -> None:
    old = os.umask(0)
    try:
        folder = create_run()
    finally:
        os.umask(old)
    assert folder.parent == Path.cwd() / ".laststep"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert folder.parent.stat().st_mode & 0o777 == 0o700
    subprocess.run(["git", "init", "-q"], check=True)
    (folder / "secret").write_text("x")
    status = subprocess.run(["git", "status", "--porcelain", "-uall"], capture_output=True, text=True, check=True)
    assert status.stdout == ""


def test_somebodys_own_gitignore_is_left_alone() -> None:
    home = Path.cwd() / ".laststep"
    home.mkdir()
    (home / ".gitignore").write_text("mine\n")
    create_run()
    assert (home / ".gitignore").read_text() == "mine\n"


def test_runs_of_the_same_second_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = iter([b"\xaa\xaa", b"\xaa\xaa", b"\xbb\xbb"])
    monkeypatch.setattr(time, "strftime", lambda form: "20260101-000000")
    monkeypatch.setattr(os, "urandom", lambda size: next(tokens))
    assert create_run().name == "20260101-000000-aaaa"
    assert create_run().name == "20260101-000000-bbbb"


def test_the_chosen_place_is_used_before_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LASTSTEP_DIR", str(tmp_path / "by-environment"))
    assert create_run().parent == tmp_path / "by-environment"
    assert create_run(str(tmp_path / "by-option")).parent == tmp_path / "by-option"
    assert list(Path.cwd().iterdir()) == []


def test_a_chosen_place_that_cannot_be_used_is_an_error_not_another_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        create_run(str(tmp_path / "file" / "below"))


def test_a_read_only_working_directory_falls_back_to_the_users_data(
    mount: Mount, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(mount("tmpfs", "size=64k,ro"))
    folder = create_run()
    assert folder.parent == tmp_path / "data" / "laststep"
    make_run(folder.parent, folder.name + "-x", 1.0)
    assert [run.name for run in list_runs()] == [folder.name + "-x"]


def test_a_working_directory_of_somebody_else_falls_back_too(tmp_path: Path) -> None:
    """Without root's powers, in a folder that can't be written to."""
    if os.geteuid() != 0:
        pytest.skip("becoming nobody needs root")
    place, data = tmp_path / "locked", tmp_path / "nobodys"
    place.mkdir(mode=0o755)
    data.mkdir()
    os.chown(data, 65534, 65534)
    for above in (tmp_path, *list(tmp_path.parents)[:-2]):
        above.chmod(above.stat().st_mode | 0o055)
    with ProcessPoolExecutor(1, initializer=_become_nobody, initargs=(place, data)) as pool:
        made = pool.submit(create_run).result()
    assert made.parent == data / "laststep"


def _become_nobody(place: Path, data: Path) -> None:
    os.environ["XDG_DATA_HOME"] = str(data)
    os.chdir(place)
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


def test_a_file_in_the_way_falls_back_too(tmp_path: Path) -> None:
    (Path.cwd() / ".laststep").write_text("not a folder")
    assert create_run().parent == tmp_path / "data" / "laststep"


def test_a_working_directory_that_is_gone_falls_back_too(tmp_path: Path) -> None:
    os.rmdir(Path.cwd())
    assert create_run().parent == tmp_path / "data" / "laststep"
    assert list_runs() == []


def test_the_newest_comes_first_whatever_its_name() -> None:
    home = Path.cwd() / ".laststep"
    for name, began in (("b", 100.0), ("c", 300.0), ("a", 200.0)):
        make_run(home, name, began)
    (home / "no-run").mkdir()
    assert [run.name for run in list_runs()] == ["c", "a", "b"]
    assert find_run(None).name == "c"


def test_a_run_is_found_by_its_unique_beginning() -> None:
    home = Path.cwd() / ".laststep"
    for name in ("20260101-000000-aaaa", "20260101-000000-aabb", "20260202-000000-cccc", "20260202-000000-cccc-2"):
        make_run(home, name, 1.0)
    assert find_run("20260101-000000-aaa").name == "20260101-000000-aaaa"
    assert find_run("20260202-000000-cccc").name == "20260202-000000-cccc"  # exact, though another begins so
    with pytest.raises(NoSuchRun, match="matches 2 runs"):
        find_run("20260101")
    with pytest.raises(NoSuchRun, match="no run 1999"):
        find_run("1999")


def test_a_run_is_found_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_run(tmp_path / "elsewhere", "there", 1.0)
    assert find_run(str(folder)) == folder
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert find_run("./there").resolve() == folder
    assert find_run("there").resolve() == folder
    monkeypatch.chdir(folder)
    assert find_run(".").resolve() == folder
    with pytest.raises(NoSuchRun, match="not a run folder"):
        find_run(str(tmp_path))


def test_without_runs_the_error_says_how_to_begin() -> None:
    with pytest.raises(NoSuchRun, match="laststep run python"):
        find_run(None)


def test_prune_lets_the_oldest_go_by_number(tmp_path: Path) -> None:
    for number in range(6):
        make_run(tmp_path / "home", f"run-{number}", float(number))
    gone = prune(tmp_path / "home", keep_runs=4, keep_bytes=10**9)
    assert sorted(folder.name for folder in gone) == ["run-0", "run-1"]
    assert sorted(folder.name for folder in (tmp_path / "home").iterdir()) == [f"run-{n}" for n in range(2, 6)]


def test_prune_lets_the_oldest_go_by_size(tmp_path: Path) -> None:
    for number in range(6):
        make_run(tmp_path / "home", f"run-{number}", float(number), size=100_000)
    one = size_of(tmp_path / "home" / "run-0")
    prune(tmp_path / "home", keep_runs=50, keep_bytes=int(2.5 * one))
    assert sorted(folder.name for folder in (tmp_path / "home").iterdir()) == ["run-4", "run-5"]


def test_prune_keeps_the_run_that_has_just_ended_and_what_is_no_run(tmp_path: Path) -> None:
    mine = make_run(tmp_path / "home", "mine", 1.0, size=50_000)
    (tmp_path / "home" / "my-notes").mkdir()
    (tmp_path / "home" / ".gitignore").write_text("*\n")
    assert prune(tmp_path / "home", keep_runs=0, keep_bytes=0, busy=mine) == []
    assert sorted(entry.name for entry in (tmp_path / "home").iterdir()) == [".gitignore", "mine", "my-notes"]


def test_prune_keeps_a_run_that_is_still_supervised(tmp_path: Path) -> None:
    folder = tmp_path / "home" / "living"
    folder.mkdir(parents=True)
    journal = open_journal(folder)
    journal.write("run", {}, at=1.0)
    assert is_busy(folder)
    assert prune(tmp_path / "home", keep_runs=0, keep_bytes=0) == []
    journal.close()
    assert not is_busy(folder)
    assert prune(tmp_path / "home", keep_runs=0, keep_bytes=0) == [folder]


def test_a_supervised_run_stays_busy_when_its_journal_has_grown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "HEAD_BYTES", 2000)
    monkeypatch.setattr(journals, "TAIL_BYTES", 1000)
    folder = tmp_path / "home" / "living"
    folder.mkdir(parents=True)
    journal = open_journal(folder)
    for number in range(200):
        journal.write("signal", {"signal": "SIGUSR1", "by": "process"})
        assert is_busy(folder), f"no longer locked after {number} events"
    journal.close()


def test_prune_keeps_a_run_whose_process_lives_without_a_supervisor(tmp_path: Path) -> None:
    """The supervisor may have been killed alone, and the training goes on."""
    folder = make_run(tmp_path / "home", "orphan", 1.0)
    recorder = JournalWriter(folder / f"recorder.{os.getpid()}.jsonl", "recorder")
    recorder.write("recorder", {"pid": os.getpid()})
    (Path(recorder.path).parent / CLAIM).write_text(f"{os.getpid()} {start_time(os.getpid())}")
    assert prune(tmp_path / "home", keep_runs=0, keep_bytes=0) == []
    recorder.close()


def test_prune_does_not_follow_a_link_out_of_the_home(tmp_path: Path) -> None:
    elsewhere = make_run(tmp_path / "elsewhere", "precious", 1.0)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "link").symlink_to(elsewhere)
    prune(tmp_path / "home", keep_runs=0, keep_bytes=0)
    assert (elsewhere / folders.SUPERVISOR_JOURNAL).exists()


def test_size_is_what_the_disk_gives_and_links_are_not_followed(tmp_path: Path) -> None:
    big = tmp_path / "big"
    big.write_bytes(os.urandom(1 << 20))
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "link").symlink_to(big)
    with open(folder / "sparse", "wb") as file:
        file.truncate(1 << 30)
    assert size_of(folder) < 100_000
    (folder / "real").write_bytes(os.urandom(1 << 20))
    assert 1 << 20 <= size_of(folder) < (1 << 20) + 100_000


def test_a_link_in_place_of_the_gitignore_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitignore").symlink_to(tmp_path / "elsewhere")
    create_run(str(tmp_path / "home"))
    assert not (tmp_path / "elsewhere").exists()
