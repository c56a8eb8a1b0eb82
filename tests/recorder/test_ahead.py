"""Whether more training follows a fit, by the program's source."""

from __future__ import annotations

from pathlib import Path

import pytest

from laststep.recorder import ahead

FIT = "history = model.fit(x, y)  # here\n"
PROGRAMS = {
    "one fit": (FIT + "model.evaluate(x, y)\nplot(history)\n", False),
    "in a with": ("with strategy.scope():\n    " + FIT, False),
    "over several lines": ("model.fit(  # here\n    x,\n    y,\n)\nmodel.save('m.keras')\n", False),
    "in a loop": ("for fold in folds:\n    " + FIT, True),
    "in a while": ("while True:\n    " + FIT, True),
    "in a comprehension": ("scores = [model.fit(x, y) for x in folds]  # here\n", True),
    "after a loop": ("for n in names:\n    load(n)\n" + FIT, False),
    "a second fit": (FIT + "model.trainable = True\nmodel.fit(x, y, epochs=9)\n", True),
    "in a function above": ("def finetune():\n    model.fit(x)\n" + FIT + "finetune()\n", True),
    "a step by hand": (FIT + "loss = model.train_on_batch(x, y)\n", True),
}


@pytest.fixture(autouse=True)
def _nothing_was_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_made", set())


def asked(folder: Path, source: str, *lines: int) -> bool | None:
    path = folder / "train.py"
    path.write_text(source)
    ahead._nodes.cache_clear()
    here = [n for n, line in enumerate(source.splitlines(), 1) if "# here" in line]
    return ahead.more_follows([{"file": str(path), "line": line} for line in lines or here])


@pytest.mark.parametrize("program", PROGRAMS)
def test_by_the_source(tmp_path: Path, program: str) -> None:
    source, follows = PROGRAMS[program]
    assert asked(tmp_path, source) is follows


def test_the_last_of_two_fits_is_followed_by_none(tmp_path: Path) -> None:
    source = "model.fit(a)\nmodel.fit(b)\n"
    assert asked(tmp_path, source, 1) is True
    assert asked(tmp_path, source, 2) is False


def test_a_function_that_trains_and_is_called_again(tmp_path: Path) -> None:
    source = "def train(x):\n    model.fit(x)\ntrain(a)\ntrain(b)\n"
    assert asked(tmp_path, source, 2, 3) is True
    assert asked(tmp_path, source, 2, 4) is False


def test_a_loop_around_the_call_of_the_function(tmp_path: Path) -> None:
    source = "def train(x):\n    model.fit(x)\nfor x in folds:\n    train(x)\n"
    assert asked(tmp_path, source, 2, 4) is True


def test_of_a_cell_and_of_a_deep_stack_it_is_not_known(tmp_path: Path) -> None:
    assert ahead.more_follows([{"file": "<ipython-input-3-0a>", "line": 1}]) is None
    assert ahead.more_follows([]) is None
    assert asked(tmp_path, FIT, *[1] * ahead.MAX_STACK) is None
