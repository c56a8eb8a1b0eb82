"""No page is wider than its columns, in any script: wide letters, emoji, accents of their own."""

from __future__ import annotations

import textwrap
import unicodedata

import pytest

from laststep.analysis.experiments.tune import NotTried, Outcome, Tried
from laststep.analysis.finding import Confidence, Diagnosis, Evidence, Finding, Remedy, RuledOut
from laststep.profile.costs import Cost, Profile
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.reports import profile, terminal, tune
from laststep.reports.columns import columns, cut, cut_start, pad, wrap
from laststep.rules.diagnose import diagnose
from tests.written import written

CHINESE = "训练模型的数据增强与学习率调度"
JAPANESE = "畳み込みニューラルネットワーク"
KOREAN = "신경망학습데이터"
EMOJI = "🚀🔥👩‍💻❤️1️⃣🇩🇪"
ACCENTS = "e\u0301a\u0308n\u0303" * 5
TEXTS = [CHINESE, JAPANESE, KOREAN, unicodedata.normalize("NFD", KOREAN), EMOJI, ACCENTS, "ﾊﾝｶｸ", "Überprüfung"]


def at_least(text: str) -> int:
    """By another way than the one that is tested: what every terminal takes for it."""
    text = unicodedata.normalize("NFC", text)
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return wide + sum(unicodedata.category(char) not in ("Mn", "Me", "Cf") for char in text)


def widest(page: str) -> int:
    return max(at_least(line) for line in page.splitlines())


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("train.py", 8), ("训练.py", 7), ("ﾊﾝｶｸ", 4), ("e\u0301", 1), ("Ü", 1), ("🚀", 2), ("👍🏽", 4), ("❤", 1),
        ("❤\ufe0f", 2), ("1\ufe0f\u20e3", 2), ("🇩🇪", 2), ("각", 2), (unicodedata.normalize("NFD", "각"), 2),
        ("·…→≈", 4), ("a\u200bb", 2), ("soft\u00adhyphen", 11),
    ],
)  # fmt: skip
def test_columns_of(text, width):
    assert columns(text) == width


def test_cut_and_padded():
    assert cut("训练训练", 8) == "训练训练"
    assert cut("训练训练", 7) == "训练训…"
    assert cut("训练训练", 6) == "训练…"
    assert cut("e\u0301e\u0301e\u0301", 2) == "e\u0301…"
    assert cut("训练", 0) == ""
    assert cut_start("训练训练", 7) == "…练训练"
    assert cut_start("训练训练", 6) == "…训练"
    assert cut_start("sequential/dense", 6) == "…dense"
    assert cut_start("dense", 5) == "dense"
    assert pad("训练", 6) + "|" == "训练  |"
    assert pad("训练训练", 6) == "训练训练"


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("width", [1, 2, 7, 40, 79])
def test_wrapped_lines_fit_and_hold_all_of_it(text, width):
    sentence = f"The class {text} in {text * 6}/{text}.py has no gradient"
    lines = wrap(sentence, width, "· ", "  ") if width > 4 else wrap(sentence, width)
    assert "".join("".join(lines).replace("·", "").split()) == "".join(sentence.split())
    if width > 10:
        assert max(map(columns, lines)) <= width
        assert max(map(columns, lines)) > width // 2


def test_plain_text_is_wrapped_as_ever():
    text = "a  few words-with-hyphens and " + "averylongword" * 9 + " and so on"
    for width in range(5, 60):
        assert wrap(text, width, "  ", "    ") == textwrap.wrap(
            text, width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
        )
        assert wrap(text + "é", width) == textwrap.wrap(text + "é", width, break_on_hyphens=False)


def made(text: str) -> Diagnosis:
    where = {"file": f"/家/{text * 9}/{text}.py", "line": 41, "text": f"{text} = {text * 8}()", "function": text}
    error = {"left": "program", "type": f"{text}.{text * 3}", "bases": ["Exception"], "message": text * 9}
    events = (
        written(0.0, "run", {"command": ["python", f"{text * 5}.py", text * 3], "cwd": f"/家/{text}"}),
        written(0.1, "recorder", {"pid": 1}, "recorder"),
        written(1.0, "exception", {**error, "frames": [where] * 3, "where": where}, "recorder"),
        written(2.0, "end", {"code": 1, "signal": None, "seconds": 2.0}),
    )
    run = Run(id=text * 6, events=events)
    remedy = Remedy(f"Change {text * 6}", f"{text * 9}\n{text}", Place(f"/家/{text * 9}.py", 3))
    evidence = (Evidence(f"{text * 12}"), Evidence(f"12 MB {text} " * 9))
    found = Finding(f"{text * 4} was {text * 9}.", Confidence.LIKELY, evidence, (remedy,), Place(f"{text * 9}.py", 3))
    answered = diagnose(run)
    return Diagnosis(run, (found, *answered.findings), (RuledOut(text * 9, True, "a-rule"),), (), answered.outcome)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_the_answer_is_never_wider_than_the_terminal(text, width):
    answer = made(text)
    assert widest(terminal.page(answer, width)) <= width
    assert widest(terminal.page(answer, width, verbose=True)) <= width
    assert widest(terminal.page(diagnose(answer.run), width)) <= width


@pytest.mark.parametrize("text", TEXTS)
def test_nor_are_the_tables(text):
    costs = tuple(Cost(f"{text}/{text * n}", text * (3 - n), True, 0.5, 0.5) for n in range(4))
    made = Profile(1, 2, (1.0, 1.0), 2.0, dict.fromkeys(("input", "compute", "host", "idle"), 0.25), costs, costs)
    for width in (60, 80, 100):
        page = profile.page(made, f"laststep · {text * 9}", text * 30, f"{text * 20}/profile", width)
        assert widest(page) <= width
    where = Place(f"{text * 9}.py", 3)
    tried = (Tried(text * 3, where, f"{text * 20}", text * 20, (1.5, 2.0), 6),)
    outcome = Outcome(where, "tf.data", 0.1, (2.0, 3.0), 6, tried, (NotTried(text, where, text * 20),), (text,))
    assert widest(tune.page(outcome, text * 9, [text * 30], None)) <= 80


def test_columns_of_a_table_stay_below_each_other():
    costs = (Cost("训练", "MatMul", False, 0.5, 0.5), Cost("dense", "MatMul", False, 0.5, 0.5))
    made = Profile(1, 2, (1.0, 1.0), 2.0, dict.fromkeys(("input", "compute", "host", "idle"), 0.25), costs, costs)
    rows = [line for line in profile.page(made, "t", "c", "p").splitlines() if "MatMul" in line]
    assert len({columns(row[: row.index("ms")]) for row in rows}) == 1
