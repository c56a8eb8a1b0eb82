"""Nothing that comes from a record, a log, a path or a process is an instruction to the terminal."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from laststep.reports.printing import clean, printable

BIDI = "\u202e\u2066\u200f\u2028\u061c"
EVIL = f"\x1b]0;pwned\x07\x1b[2Jx\x9b31m\x08{BIDI}y\udcff"
OWN = re.compile(r"\x1b\[[0-9;]*m")


def is_safe(text: str, colours: bool = False) -> bool:
    text = OWN.sub("", text) if colours else text
    return not any(unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs") for char in text if char != "\n") and not (
        set(text) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
    )


def plant(home: Path, name: str = "evil\x1b]0;pwned\x07\u202e") -> Path:
    folder = home / name
    folder.mkdir(parents=True)
    place = {"file": f"/x/{EVIL}.py", "line": 3, "function": EVIL, "text": EVIL, "is_users": True}
    raised = {"left": "program", "type": EVIL, "message": EVIL, "frames": [place], "where": place, "bases": [EVIL]}
    events = [
        ("run", {"command": ["python", EVIL], "cwd": f"/x/{EVIL}", "host": EVIL, "environment": {"TF_X": EVIL}}),
        ("recorder", {}),
        ("fit", {"id": 1, "epochs": 3, "where": place, "optimizer": {"class": EVIL}}),
        ("epoch", {"fit": 1, "epoch": 0, "batches": 1, "metrics": {EVIL: 1.0, "loss": 2.0}}),
        ("exception", raised),
        ("signal", {"signal": "SIGTERM", "by": "process", "sender": {"pid": 1, "name": EVIL}}),
        ("probe", {"name": EVIL, "state": "unsupported", "because": EVIL}),
        ("warning", {"category": EVIL, "message": EVIL}),
        ("end", {"code": None, "signal": "SIGTERM", "seconds": 3.0, "name": EVIL}),
    ]
    lines = [json.dumps({"laststep": 1, "source": "supervisor"})]
    lines += [json.dumps({"t": 100.0 + n, "kind": kind, "data": data}) for n, (kind, data) in enumerate(events)]
    (folder / "supervisor.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "console").write_bytes(b"\x1b]0;x\x07\x9b31m \xe2\x80\xae Error: \xff\n" * 3)
    return folder


@pytest.mark.parametrize(
    "words",
    [("why",), ("why", "-v"), ("why", "--json"), ("runs",), ("watch", "--once"), ("tune",), ("prove",), ("replay",)],
    ids=" ".join,
)
def test_no_verb_prints_it(laststep, here, words):
    plant(here / ".laststep")
    result = laststep(*words)
    assert "Traceback" not in result.stderr
    assert result.stdout + result.stderr != ""
    assert is_safe(result.stdout + result.stderr)


def test_in_errors_neither(laststep, here):
    for words in (("why", EVIL), ("why", f"./{EVIL}"), ("diagnose", f"{EVIL}.log"), ("explain", EVIL), (EVIL,)):
        words = tuple(word.replace("\udcff", "").replace("\x00", "") for word in words)
        result = laststep(*words)
        assert result.returncode == 2
        assert is_safe(result.stdout + result.stderr), words


def test_a_log_is_printed_safely(laststep, here):
    (here / f"a{BIDI}.log").write_bytes(f"{EVIL}\nValueError: {EVIL}\n".encode("utf-8", "surrogatepass"))
    for more in ((), ("-v",), ("--json",)):
        result = laststep("diagnose", *more, f"a{BIDI}.log")
        assert result.returncode == 0
        assert is_safe(result.stdout)


def test_json_keeps_the_data_whole(laststep, here):
    plant(here / ".laststep")
    answer = laststep("why", "--json").stdout
    assert answer.isascii()
    assert json.loads(answer)["run"]["command"] == ["python", EVIL]


TERMINALS = (
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "latin-1"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
)
ANSWERS = (("why", "-v"), ("why", "--json"), ("runs",), ("explain", "nan-loss"), ("rules",))


@pytest.mark.parametrize("env", TERMINALS, ids=str)
@pytest.mark.parametrize("words", ANSWERS, ids=" ".join)
def test_on_any_terminal(here, environ, words, env):
    plant(here / ".laststep")
    command = [sys.executable, "-m", "laststep", *words]
    result = subprocess.run(command, cwd=here, env={**environ, **env}, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stderr == b""


def test_at_the_end_of_a_run_too(here, environ):
    (here / "dies.py").write_text(f"raise ValueError({EVIL!a})\n")
    command = [sys.executable, "-m", "laststep", "run", "python", "dies.py"]
    environ["PYTHONIOENCODING"] = "ascii"
    result = subprocess.run(command, cwd=here, env=environ, capture_output=True, check=False)
    answer = result.stderr.decode("ascii", "strict").partition("laststep |")[2]
    assert "unhandled-exception" in answer
    assert is_safe(answer)


def test_a_console_that_is_no_text_fails_no_rule(laststep, here):
    folder = plant(here / ".laststep", "binary")
    (folder / "console").write_bytes(os.urandom(100_000) + b"\nValueError: late\n")
    answer = json.loads(laststep("why", "--json").stdout)
    assert [item for item in answer["unchecked"] if "failed" in item["because"]] == []
    assert laststep("why", "-v").returncode == 0


def test_colours_of_our_own_pass_and_no_others():
    assert printable("\x1b[1mx\x1b[0m \x1b[8mhidden\x1b[5m\x1b[30;40m") == "\x1b[1mx\x1b[0m hidden"
    assert clean("\x1b[1mx\x1b[0m\ty") == "x y"
    assert clean("日本 é 👩‍🔬 עברית") == "日本 é 👩‍🔬 עברית"


def test_nor_does_attach_about_a_process_whose_name_is_one(laststep, here):
    name = "x\x1b]0;pwned\x07\u202ey.py"
    (here / name).write_text("import time\nprint(1, flush=True)\ntime.sleep(60)\n")
    with subprocess.Popen([sys.executable, name, "a\x1b[2Jb"], cwd=here, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        result = laststep("attach", str(process.pid), "--seconds", "3")
        process.kill()
    assert "y.py" in result.stdout + result.stderr, "it names the process"
    assert is_safe(result.stdout)
    assert is_safe(result.stderr)
