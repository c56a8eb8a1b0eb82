"""laststep why: by name, by path, as JSON; and one clear line when it cannot."""

from __future__ import annotations

import json

import pytest

HEAD = '{"laststep":1,"source":"supervisor"}\n'
NONSENSE = {
    "a number for a command": '{"t":1,"kind":"run","data":{"command":5,"cwd":7}}\n',
    "words for numbers": '{"t":1,"kind":"fit","data":{"id":"a","epochs":"x","initial_epoch":"q"}}\n'
    '{"t":2,"kind":"epoch","data":{"fit":"a","epoch":"z","metrics":5}}\n',
    "an end like no other": '{"t":1,"kind":"end","data":{"code":"x","signal":5,"seconds":"y"}}\n',
    "numbers for objects": '{"t":1,"kind":"recorder","data":{}}\n'
    '{"t":2,"kind":"stop","data":{"callback":"x","line":3}}\n'
    '{"t":3,"kind":"exception","data":{"left":"program","type":5,"frames":4,"where":1}}\n',
    "times like no other": '{"t":NaN,"kind":"run","data":{}}\n{"t":1e400,"kind":"end","data":{}}\n',
}


def test_no_runs_yet(laststep, one_line):
    assert "laststep run python train.py" in one_line(laststep("why"))


def test_an_unknown_run(laststep, one_line):
    laststep("run", "--quiet", "prog.py")
    assert one_line(laststep("why", "20200101")) == "laststep: no run 20200101 here; `laststep runs` lists all"


@pytest.mark.parametrize("path", ["./nowhere", "/", "prog.py/x", "./prog.py"])
def test_a_path_that_is_no_run_folder(laststep, one_line, path):
    assert one_line(laststep("why", path)) == f"laststep: {path} is not a run folder"


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"\xff\xfe{{{\n", HEAD.encode(), b'{"t":1,"kind":"run","da'])
def test_a_damaged_folder(laststep, one_line, here, content):
    folder = here / ".laststep" / "20200101-000000-dead"
    folder.mkdir(parents=True)
    (folder / "supervisor.jsonl").write_bytes(content)
    assert "holds no readable record" in one_line(laststep("why", "20200101"))


@pytest.mark.parametrize("content", NONSENSE.values(), ids=NONSENSE)
@pytest.mark.parametrize("how", [(), ("-v",), ("--json",)], ids=" ".join)
def test_nonsense_in_a_folder_never_gives_a_traceback(laststep, here, content, how):
    folder = here / ".laststep" / "20200101-000000-dead"
    folder.mkdir(parents=True)
    (folder / "supervisor.jsonl").write_text(HEAD + content)
    result = laststep("why", *how)
    assert "Traceback" not in result.stderr
    assert result.returncode in (0, 2)


def test_an_empty_folder(laststep, one_line, here):
    (here / "empty").mkdir()
    assert "not a run folder" in one_line(laststep("why", "./empty"))


def test_an_ambiguous_name(laststep, one_line, runs_in):
    laststep("run", "--quiet", "prog.py")
    laststep("run", "--quiet", "prog.py")
    line = one_line(laststep("why", "2"))
    assert "matches 2 runs" in line
    assert runs_in()[0].name in line


def test_the_newest_by_default_and_the_others_by_name_beginning_or_path(laststep, runs_in, here):
    laststep("run", "--quiet", "prog.py", "3")
    first = runs_in()[0]
    laststep("run", "--quiet", "prog.py", "4")
    assert "sys.exit(4)" in laststep("why").stdout
    for name in (first.name, first.name[:-1], str(first), f".laststep/{first.name}", f"./.laststep/{first.name}/"):
        assert "sys.exit(3)" in laststep("why", name).stdout
    assert "sys.exit(3)" in laststep("why", first.name, cwd=here / ".laststep", env={"LASTSTEP_DIR": "."}).stdout


def test_a_stranger_s_text_cannot_drive_the_terminal(laststep, here):
    (here / "evil.py").write_text("raise ValueError(chr(27) + '[' + '2J' + chr(27) + ']0;owned' + chr(7) + ' wiped')\n")
    laststep("run", "--quiet", "evil.py")
    shown = laststep("why", "-v").stdout
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "wiped" in shown
    assert "[2J" not in shown


DEATHS = {
    "raise ValueError('boom')": None,  # what to change is not known
    "import sys; sys.exit(3)": "What to do",
    "import os; os.kill(os.getpid(), 9)": "What to do",
}


@pytest.mark.parametrize("code", DEATHS)
def test_the_page_fits_into_80_columns(laststep, here, code):
    (here / "dies.py").write_text(f"print('hello')\n{code}\n")
    result = laststep("run", "dies.py", "--option", "x" * 120)
    page = result.stderr[result.stderr.index("laststep · ") :]
    assert [line for line in page.splitlines() if len(line) > 80] == []
    for heading in ("What happened", "What ended it", "Evidence"):
        assert f"\n{heading}" in page
    remedies = [line for line in page.splitlines() if line in ("What to change", "What to do")]
    assert remedies == ([DEATHS[code]] if DEATHS[code] else [])


def test_json_keeps_its_promise(laststep, here):
    (here / "data.csv").write_text("1,2\n")
    (here / "dies.py").write_text("def main():\n    open('date.csv')\n\nmain()\n")
    laststep("run", "--quiet", "dies.py")
    result = laststep("why", "--json")
    assert result.returncode == 0
    assert result.stderr == ""
    answer = json.loads(result.stdout)
    assert set(answer) == {"run", "findings", "ruled_out", "unchecked"}
    assert set(answer["run"]) == {"id", "command", "outcome", "exit", "steps", "epochs", "seconds"}
    assert answer["run"]["outcome"] == "crashed"
    assert answer["run"]["exit"] == {"code": 1, "signal": None}
    assert set(answer["run"]["epochs"]) == {"reached", "asked"}
    finding = answer["findings"][0]
    assert set(finding) == {"rule", "symptom", "cause", "confidence", "follows_from", "where", "evidence", "remedies"}
    assert finding["rule"] == "missing-file"
    assert finding["where"] == {"file": str(here / "dies.py"), "line": 2}
    assert finding["evidence"]
    assert finding["remedies"]
    assert all(set(item) == {"says"} for item in finding["evidence"])
    assert all(set(item) == {"does", "change", "where", "safe"} for item in finding["remedies"])
    assert answer["ruled_out"]
    assert all(set(item) == {"rule", "because"} for item in (*answer["ruled_out"], *answer["unchecked"]))


def test_json_of_a_healthy_run_has_no_findings(laststep):
    laststep("run", "--quiet", "prog.py")
    answer = json.loads(laststep("why", "--json").stdout)
    assert answer["findings"] == []
    assert answer["run"]["outcome"] == "finished"


def test_verbose_shows_the_stack(laststep, here):
    (here / "dies.py").write_text("def inner():\n    raise ValueError\n\ndef outer():\n    inner()\n\nouter()\n")
    laststep("run", "--quiet", "dies.py")
    assert "dies.py:5 in outer" not in laststep("why").stdout
    assert "dies.py:5 in outer" in laststep("why", "-v").stdout
