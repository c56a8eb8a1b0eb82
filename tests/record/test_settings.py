"""Settings: an option before the environment before pyproject.toml before the default; the rest is said in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from laststep.settings import BadSetting, Settings, parse_size, read_settings


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DIR", "QUIET", "KEEP_RUNS", "KEEP_SIZE", "ON_STALL", "STALL_AFTER"):
        monkeypatch.delenv(f"LASTSTEP_{name}", raising=False)


def pyproject(folder: Path, text: str) -> Path:
    (folder / "pyproject.toml").write_text(text)
    return folder


def test_without_anything_the_defaults_hold(tmp_path: Path) -> None:
    assert read_settings(where=pyproject(tmp_path, "")) == Settings(None, False, 50, 10**9)


def test_the_nearer_place_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = pyproject(tmp_path, '[tool.laststep]\nkeep-runs = 1\nkeep_size = "1 MB"\ndir = "file"\nquiet = true\n')
    assert read_settings(where=where) == Settings(str(tmp_path / "file"), True, 1, 10**6)
    monkeypatch.setenv("LASTSTEP_KEEP_RUNS", "2")
    monkeypatch.setenv("LASTSTEP_DIR", "env")
    monkeypatch.setenv("LASTSTEP_QUIET", "0")
    assert read_settings(where=where) == Settings("env", False, 2, 10**6)
    given = {"keep_runs": 3, "dir": "option", "quiet": None, "keep_size": "2GB"}
    assert read_settings(given, where) == Settings("option", False, 3, 2 * 10**9)


def test_a_pyproject_above_counts_and_the_nearest_alone(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    pyproject(tmp_path, "[tool.laststep]\nkeep-runs = 7\n")
    assert read_settings(where=inner).keep_runs == 7
    pyproject(tmp_path / "a", "[project]\nname = 'x'\n")
    assert read_settings(where=inner).keep_runs == 50


@pytest.mark.parametrize(
    "text", ["[tool.laststep", "tool = 3", "[tool]\nlaststep = 3", "[tool.laststep]\nunknown = 1", "\0"]
)
def test_somebodys_broken_pyproject_is_not_ours_to_complain_about(tmp_path: Path, text: str) -> None:
    assert read_settings(where=pyproject(tmp_path, text)) == Settings()


def test_a_pyproject_that_is_no_text_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe\x00")
    assert read_settings(where=tmp_path) == Settings()


@pytest.mark.parametrize(
    "line",
    ['keep-runs = "many"', "keep-runs = [1]", "keep-runs = {a = 1}", 'keep-size = "big"', "keep-size = [1]",
     'keep-size = "1.2.3 MB"', 'keep-size = "-1"'],
)  # fmt: skip
def test_what_cannot_be_is_said_by_name(tmp_path: Path, line: str) -> None:
    with pytest.raises(BadSetting, match=line.partition(" ")[0]):
        read_settings(where=pyproject(tmp_path, f"[tool.laststep]\n{line}\n"))


@pytest.mark.parametrize(
    "text,size",
    [
        ("1000", 1000),
        ("500 MB", 5 * 10**8),
        ("1.5GB", 15 * 10**8),
        (" 2 kb ", 2000),
        ("0", 0),
        ("3b", 3),
        ("1TB", 10**12),
    ],
)
def test_sizes_are_read_as_people_write_them(text: str, size: int) -> None:
    assert parse_size(text) == size


@given(st.text(max_size=40))
@example("9" * 400)
@example("9" * 5000 + "TB")
@example(".")
@example("٣")
def test_any_text_is_a_size_or_a_value_error(text: str) -> None:
    try:
        assert parse_size(text) >= 0
    except ValueError:
        pass


@pytest.mark.parametrize(
    "word,quiet", [("1", True), ("true", True), ("YES", True), ("on", True), ("0", False), ("no", False), ("", False)]
)
def test_yes_and_no_are_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, word: str, quiet: bool) -> None:
    monkeypatch.setenv("LASTSTEP_QUIET", word)
    assert read_settings(where=pyproject(tmp_path, "")).quiet is quiet


STALL = [
    ('on-stall = "explode"', "on-stall"),
    ("on-stall = 3", "on-stall"),
    ("on_stall = true", "on_stall"),
    ('stall-after = "soon"', "stall-after"),
    ("stall-after = -1", "stall-after"),
    ("stall-after = nan", "stall-after"),
    ("stall-after = inf", "stall-after"),
    ("stall-after = [1]", "stall-after"),
]


@pytest.mark.parametrize("line,name", STALL)
def test_what_cannot_be_about_stalls_is_said_by_name(tmp_path: Path, line: str, name: str) -> None:
    with pytest.raises(BadSetting, match=name) as said:
        read_settings(where=pyproject(tmp_path, f"[tool.laststep]\n{line}\n"))
    assert "\n" not in str(said.value)


def test_the_example_for_a_time_is_a_time(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"use e\.g\. 50"):
        read_settings({"stall_after": "soon"}, pyproject(tmp_path, ""))


def test_stalls_are_set_in_three_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = pyproject(tmp_path, '[tool.laststep]\non-stall = "stop"\nstall-after = 30\n')
    assert read_settings(where=where)[4:6] == ("stop", 30.0)
    monkeypatch.setenv("LASTSTEP_ON_STALL", "stacks")
    monkeypatch.setenv("LASTSTEP_STALL_AFTER", "2.5")
    assert read_settings(where=where)[4:6] == ("stacks", 2.5)
    assert read_settings({"on_stall": "restart", "stall_after": "7"}, where)[4:6] == ("restart", 7.0)
    assert Settings().on_stall == "warn"
    assert Settings().stall_after == 0.0
