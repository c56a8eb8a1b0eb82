"""The page fits the screen, shows nothing that could drive a terminal, and the JSON is JSON."""

from __future__ import annotations

import json
from dataclasses import replace

from laststep.analysis.finding import Confidence, Diagnosis, Evidence, Finding, RuledOut
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.reports import json as json_report
from laststep.reports import terminal
from laststep.rules.diagnose import diagnose
from laststep.text import format_count, format_duration, format_place, format_size, sparkline
from tests.written import written

HOSTILE = "\x1b]0;owned\x07\x1b[2Jvery " + "long " * 60 + "\x00\x9b31m"


def hostile_run() -> Run:
    error = {
        "left": "program",
        "type": f"mod.{HOSTILE}",
        "bases": ["Exception"],
        "message": HOSTILE,
        "frames": [{"file": HOSTILE, "line": 1, "function": HOSTILE}],
        "where": {"file": "/x/" + HOSTILE, "line": 7, "text": HOSTILE},
    }
    events = (
        written(0.0, "run", {"command": ["python", HOSTILE], "cwd": "/x"}),
        written(0.1, "recorder", {"pid": 1}, "recorder"),
        written(1.0, "exception", error, "recorder"),
        written(2.0, "end", {"code": 1, "signal": None, "seconds": 2.0}),
    )
    return Run(id="hostile", events=events)


def test_no_control_characters_from_the_program_reach_the_terminal() -> None:
    for verbose in (False, True):
        page = terminal.page(diagnose(hostile_run()), verbose=verbose)
        assert not any((ord(letter) < 32 and letter != "\n") or 127 <= ord(letter) < 160 for letter in page)


def test_the_answer_fits_80_columns() -> None:
    page = terminal.page(diagnose(hostile_run()), width=80)
    assert max(len(line) for line in page.splitlines()) <= 80


def test_what_was_ruled_out_gives_way_to_what_was_found() -> None:
    evidence = tuple(Evidence(f"number {n}", ()) for n in range(12))
    found = Finding("It broke.", Confidence.LIKELY, evidence, rule="nan-loss", symptom="diverged")
    also = [Finding("And this. " + "Long. " * 20, Confidence.LIKELY, evidence, rule=f"other-{n}") for n in range(3)]
    ruled_out = tuple(RuledOut("a measurement " + "of many words " * 8, True, f"rule-{n}") for n in range(9))
    data = Diagnosis(hostile_run(), (found, *also), ruled_out, (), "stopped")
    short, alone = terminal.page(data), terminal.page(replace(data, findings=(found,)))
    assert len(short.splitlines()) <= terminal.MAX_PAGE_LINES
    assert "And this." in short
    assert "number 11" in short
    assert short.count("rule-") < alone.count("rule-") == terminal.MAX_RULED_OUT
    assert terminal.page(data, verbose=True).count("rule-") == len(ruled_out)


def test_json_is_strict_even_with_nan() -> None:
    stop = {
        "fit": 1, "callback": {"class": "TerminateOnNaN", "module": "keras", "users": False},
        "metrics": {"loss": float("nan")}, "epoch": 0, "batch": 3,
    }  # fmt: skip
    events = (
        written(0.0, "run", {"command": ["python"]}),
        written(0.1, "recorder", {"pid": 1}, "recorder"),
        written(0.2, "fit", {"id": 1, "epochs": 5}, "recorder"),
        written(0.3, "stop", stop, "recorder"),
        written(0.4, "fit-end", {"id": 1}, "recorder"),
        written(2.0, "end", {"code": 0, "signal": None, "seconds": float("inf")}),
    )
    text = json_report.page(diagnose(Run(id="r", events=events)))

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    answer = json.loads(text, parse_constant=refuse)
    assert answer["findings"][0]["rule"] == "stopped-on-nan"


def test_words() -> None:
    assert format_size(1_500_000) == "2 MB"
    assert format_duration(0.05) == "0.05 s"
    assert format_duration(3725) == "62 min"
    assert format_duration(3600 * 50) == "2 days 2 h"
    assert format_count(1, "step") == "1 step"
    assert sparkline([1, 2, 3, 4, 5, 6, 7, 8]) == "▁▂▃▄▅▆▇█"
    assert sparkline([1, float("nan")]) == ""
    assert format_place(Place("/a/b/train.py", 3), "/a/b") == "train.py:3"
