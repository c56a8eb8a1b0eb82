"""The live screen without a terminal: exact lines, every size, nothing that could drive a terminal."""

from __future__ import annotations

import dataclasses
import time

import pytest

from laststep.reports.columns import columns, cut
from laststep.reports.figures import Gpu, ShortFinding, View
from laststep.reports.lines import end_line, finding_line, line
from laststep.reports.live import screen
from laststep.reports.sheet import Sheet, curve

NOW = time.mktime((2026, 11, 16, 12, 48, 45, 0, 0, -1))
VIEW = View(
    id="20261116-124738-bdfc",
    command="python train.py --epochs 10",
    at=NOW,
    began=NOW - 720,
    seconds=720,
    epoch=3,
    epochs=10,
    batch=120,
    batches=500,
    step=1120,
    done=0.224,
    left=2520,
    phase="training",
    step_now=0.412,
    step_median=0.152,
    step_curve=(0.15,) * 24 + (0.45,) * 12,
    wait_share=0.63,
    wait_seconds=20,
    wait_curve=(0.0, 0.5, 1.0),
    loss="0.1722",
    loss_curve=(3.0, 2.0, 1.0, 0.5),
    metrics=(("loss", "0.2412"), ("val_loss", "0.31")),
    metrics_epoch=2,
    memory=7.1e9,
    taken=7.4e9,
    limit=8e9,
    limit_of="limit",
    growth=340e6,
    growth_seconds=300,
    forecast="memory runs out in about 14 min",
    cpu=1.93,
    cores=4,
    gpus=(Gpu(0, 87, 30.1e9, 80e9, 61),),
    findings=(ShortFinding("nan-loss", "LIKELY", "The loss is NaN since step 1,100", "train.py:41"),),
)
HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202every\n " + "long " * 60 + "\x00\x9b31m\ud800"
AT_80 = """\
laststep watch · 20261116-124738-bdfc                         running for 12 min
python train.py --epochs 10                                          since 12:36

Progress   epoch 3 of 10 · batch 120 of 500 · step 1,120
           ████████░░░░░░░░░░░░░░░░░░░░░░░░░░  22%, about 42 min left
Now        training
Step time  412 ms now, 152 ms median        ▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃████████████
Data wait  63% of the last 20 s             ▁▄█
Loss       0.1722                           █▅▂▁
Epoch 2    loss 0.2412 · val_loss 0.31

Memory     7.1 GB for this program · +340 MB in 5 min
           ███████████████████████████████░░░  92%, 7.4 of its limit of 8.0 GB
           memory runs out in about 14 min
Processor  1.9 of 4 cores
GPU 0      87% busy · 30.1 of 80.0 GB · 61 °C

nan-loss  LIKELY  train.py:41
  The loss is NaN since step 1,100




q quit · w why                                                       at 12:48:45
"""
AT_60_ASCII = """\
laststep watch | 20261116-124738-bdfc     running for 12 min
python train.py --epochs 10                      since 12:36
Progress   epoch 3 of 10 | batch 120 of 500 | step 1,120
           ###...........  22%, about 42 min left
Now        training
Step time  412 ms now, 152 ms median  ::::::::::::::########
Data wait  63% of the last 20 s   _-#
Loss       0.1722                 #=._
Epoch 2    loss 0.2412 | val_loss 0.31
Memory     7.1 GB for this program | +340 MB in 5 min
           #############.  92%, 7.4 of its limit of 8.0 GB
           memory runs out in about 14 min
GPU 0      87% busy | 30.1 of 80.0 GB | 61 C
nan-loss  LIKELY  train.py:41
  The loss is NaN since step 1,100
q quit | w why                                   at 12:48:45
"""


def test_80_columns_and_24_lines():
    assert "\n".join(screen(VIEW, Sheet(80, 24))) + "\n" == AT_80


def test_60_columns_and_16_lines_in_ascii():
    assert "\n".join(screen(VIEW, Sheet(60, 16, ascii=True))) + "\n" == AT_60_ASCII


def test_a_wide_terminal_is_not_filled_to_its_edge():
    lines = screen(VIEW, Sheet(200, 50))
    assert len(lines) == 50
    assert 100 < max(map(columns, lines)) <= 110


@pytest.mark.parametrize("ascii", [False, True])
@pytest.mark.parametrize("width", [1, 10, 20, 40, 60, 79, 80, 120])
def test_any_size_is_kept(width, ascii):
    gpus = tuple(Gpu(number, 80 + number, 1e9, 80e9, 60) for number in range(8))
    full = dataclasses.replace(VIEW, gpus=gpus, findings=VIEW.findings * 6, fit="fit 2", stuck=130.0)
    for view in (full, VIEW, View("r")):
        for height in (1, 2, 5, 12, 24, 60):
            lines = screen(view, Sheet(width, height, ascii=ascii))
            assert len(lines) <= height
            assert max(map(columns, lines)) <= width
            assert not ascii or "".join(lines).isascii()


def test_what_is_not_known_is_not_0():
    text = "\n".join(screen(View("r", at=NOW, began=NOW), Sheet()))
    for label in ("Progress", "Now", "Step time", "Data wait", "Loss", "Memory", "Processor"):
        assert f"\n{label:10} –" in text
    assert "GPU" not in text
    data = line(View("r", at=NOW), Sheet())
    assert "epoch=- batch=- step=- step_time=- data_wait=- loss=- memory=- of_machine=- cpu=- left=-" in data


def test_the_state_is_the_first_thing_said():
    assert "stuck for 2 min" in screen(dataclasses.replace(VIEW, stuck=130.0), Sheet())[0]
    over = dataclasses.replace(VIEW, alive=False, outcome="crashed", end="The program crashed (SIGKILL).", left=None)
    lines = screen(over, Sheet(80, 60), keys="")
    assert lines[0].endswith("crashed after 12 min")
    text = "\n".join(lines)
    assert "End        The program crashed (SIGKILL)." in text
    assert "runs out" not in text  # a forecast of what is over
    assert "q quit" not in text
    assert lines[-1] == f"More: laststep why {VIEW.id}"


def test_findings_take_the_place_of_blank_lines_first():
    found = tuple(ShortFinding(f"rule-{number}", "LIKELY", "because " * 30, "train.py:1") for number in range(5))
    text = "\n".join(screen(dataclasses.replace(VIEW, findings=found), Sheet(80, 24)))
    assert all(f"rule-{number}" in text for number in range(5))
    assert text.count("because because") > 5  # the first one in full
    small = "\n".join(screen(dataclasses.replace(VIEW, findings=found * 3), Sheet(80, 24)))
    assert "more: press w" in small


def test_more_than_two_gpus_are_told_together():
    gpus = tuple(Gpu(number, 10 + 10 * number, 40e9, 80e9, 50 + number) for number in range(8))
    text = "\n".join(screen(dataclasses.replace(VIEW, gpus=gpus), Sheet()))
    assert "8 GPUs     10 to 80% busy · memory 50% to 50% full · at most 57 °C" in text


def test_colours_only_where_they_are_wanted():
    assert "\x1b" not in "".join(screen(VIEW, Sheet()))
    coloured = screen(VIEW, Sheet(colour=True))
    assert "\x1b[1;36mrunning for 12 min\x1b[0m" in coloured[0]


def test_a_stranger_s_words_cannot_drive_the_terminal():
    data = ShortFinding(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    texts = dict.fromkeys(("id", "command", "phase", "loss", "forecast", "fit"), HOSTILE)
    view = dataclasses.replace(VIEW, **texts, metrics=((HOSTILE, HOSTILE),), findings=(data,) * 3)
    dead = dataclasses.replace(view, alive=False, outcome="stopped", end=HOSTILE)
    lines = [*screen(view, Sheet()), *screen(dead, Sheet(), keys="")]
    lines += [line(view, Sheet()), finding_line(view, data, Sheet()), end_line(dead, Sheet())]
    for shown in lines:
        assert not any(ord(letter) < 32 or 127 <= ord(letter) < 160 or letter == "\u202e" for letter in shown)
        shown.encode()


def test_one_line_says_it_all():
    assert line(VIEW, Sheet()) == (
        "2026-11-16T12:48:45 20261116-124738-bdfc running epoch=3/10 batch=120/500 step=1120 step_time=412ms "
        'data_wait=63% loss=0.1722 memory=7.1GB of_limit=92% cpu=1.9 gpu0=87% left=42min now="training"'
    )
    found = finding_line(VIEW, VIEW.findings[0], Sheet())
    assert found.endswith(" finding nan-loss LIKELY train.py:41: The loss is NaN since step 1,100")


def test_wide_letters_count_twice():
    assert columns("训练") == 4
    assert cut("训练训练", 5) == "训练…"
    lines = screen(dataclasses.replace(VIEW, command="python 训练.py " * 9), Sheet(80, 24))
    assert columns(lines[1]) == 80


def test_curves_keep_what_sticks_out():
    points = [1.0] * 500 + [9.0] + [1.0] * 500
    assert curve(points, 20, top=3.0).count("█") == 1
    assert curve([1.0, 2.0], 20) == ""
    assert curve([0.0, 1.0, 2.0], 20, ascii=True) == "_=#"
