"""laststep demo: small broken trainings that really die of what they say."""

from __future__ import annotations

import ast
import json
import shutil
import signal
from pathlib import Path

import pytest

from laststep import demos

DEMOS = {path.stem.replace("_", "-"): path for path in sorted(Path(demos.__path__[0]).glob("[!_]*.py"))}
# What each one must be found to have died of, where, and how the process ends.
DEATHS = {
    "crash-in-native-code": ("segmentation-fault", "read_string(None)", -signal.SIGSEGV),
    "early-stop-swallowed": ("callback-swallowed", "except ValueError:", 0),
    "early-stopping": ("early-stopping", "model.fit(", 0),
    "exit-in-callback": ("script-exited", "sys.exit()", 0),
    "exploding-loss": ("learning-rate-too-high", "model.compile(", 0),
    "healthy": (None, None, 0),
    "shape-error": ("unhandled-exception", "model.fit(", 1),
}


def test_every_demo_is_tested():
    assert set(DEATHS) == set(DEMOS)


def test_list_has_one_sentence_each_in_80_columns(laststep):
    result = laststep("demo", "--list")
    assert result.returncode == 0
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(DEMOS)
    assert all(len(line.split()) > 4 for line in lines)
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("path", DEMOS.values(), ids=DEMOS)
def test_the_docstring_is_one_sentence(path):
    words = ast.get_docstring(ast.parse(path.read_text()))
    assert words.endswith(".")
    assert "\n" not in words


def test_an_unknown_demo(laststep, one_line):
    line = one_line(laststep("demo", "nosuch"))
    assert "no demo nosuch" in line
    assert all(name in line for name in DEMOS)


def test_no_place_for_the_run_folder(laststep):
    result = laststep("demo", "healthy", "--dir", "/dev/null/x")
    assert "Traceback" not in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", DEMOS)
def test_each_demo_dies_of_what_it_says(laststep, name):
    pytest.importorskip("tensorflow")
    rule, line, status = DEATHS[name]
    result = laststep("demo", name, env={"TF_CPP_MIN_LOG_LEVEL": "3"})
    assert result.returncode == status, result.stderr[-2000:]
    data = json.loads(laststep("why", "--json").stdout)
    assert [finding["rule"] for finding in data["findings"]][:1] == ([rule] if rule else [])
    if rule:
        where = data["findings"][0]["where"]
        assert Path(where["file"]).samefile(DEMOS[name])
        assert line in DEMOS[name].read_text().splitlines()[where["line"] - 1]
        assert rule in result.stderr
    else:
        assert "nothing to report" in result.stderr


@pytest.mark.slow
def test_a_demo_is_the_user_s_own_code_where_laststep_is_installed_as_a_package(laststep, tmp_path):
    """`pip install .`, not an editable one: the demo then lies among the libraries."""
    pytest.importorskip("tensorflow")
    site = tmp_path / "lib" / "python3" / "site-packages"
    shutil.copytree(Path(demos.__path__[0]).parent, site / "laststep", ignore=shutil.ignore_patterns("__pycache__"))
    environ = {"PYTHONPATH": str(site), "TF_CPP_MIN_LOG_LEVEL": "3"}
    page = laststep("demo", "early-stop-swallowed", env=environ).stderr
    assert "line None" not in page
    where = json.loads(laststep("why", "--json").stdout)["findings"][0]["where"]
    assert where["file"] == str(site / "laststep" / "demos" / "early_stop_swallowed.py")
