"""The remedies of shape errors that are code are applied as they are printed: the program must then train."""

from __future__ import annotations

from pathlib import Path

import pytest

from laststep.analysis.finding import Remedy
from tests.answers import read_answer
from tests.harness import all_scenarios, run_program, run_scenario, scenario

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

IN_MAKE_TEST = ("stacked_lstm", "no_flatten_functional", "class_weight_steps", "one_hot_every_step")
# What each of these must be told in words: no line of its own would do.
WITHOUT_EDIT = ("stacked_lstm_loop", "flatten_before_lstm")
EDITED = (
    *("stacked_lstm", "stacked_gru_functional", "stacked_lstm_subclassed", "stacked_lstm_tf_keras"),
    *("stacked_bidirectional", "time_distributed", "lstm_on_a_table", "no_flatten_functional", "all_steps"),
    *("no_flatten_subclassed", "no_flatten_tf_keras", "missing_flatten", "channels_first", "channels_first_sequential"),
    *("channels_first_data", "channels_first_tf_keras", "too_small", "one_hot_every_step", "smaller_than_masks"),
    *("label_for_each_step", "too_few_units", "loss", "embedding_matrix", "set_weights", "constant_initializer"),
    *("embedding_matrix_tf_keras", "pretrained_classes", "residual_filters", "gray_images", "groups"),
    *("class_weight_steps", "class_weight_sparse", "object_array", "inhomogeneous", "ragged_slices"),
)


def _parameter(name: str) -> object:
    return pytest.param(name, marks=[] if name in IN_MAKE_TEST else [pytest.mark.all])


@pytest.mark.parametrize("name", [_parameter(name) for name in EDITED])
def test_each_edit_cures(name: str, tmp_path: Path) -> None:
    asked = scenario(f"shape_mismatch__{name}")
    ran = run_scenario(asked, tmp_path / "broken", recorded=True)
    assert ran.folder is not None
    first = read_answer(ran.folder, ran.cwd).diagnosis.findings[0]
    edits = [remedy for remedy in first.remedies if remedy.change and remedy.where]
    assert edits, f"no remedy of {[remedy.does for remedy in first.remedies]} is code"
    for at, edit in enumerate(edits):
        cured = run_program(applied(asked.source, edit), tmp_path / f"cured-{at}", recorded=False)
        assert cured.status == 0, f"{edit.does}\n{edit.change}\n{cured.stderr.decode()[-2000:]}"


def applied(source: str, remedy: Remedy) -> str:
    """The line becomes the change, with the indentation that it had."""
    assert remedy.where is not None
    assert remedy.change is not None
    lines = source.splitlines()
    old = lines[remedy.where.line - 1]
    assert remedy.where.text == old.strip()[:200]
    indent = old[: len(old) - len(old.lstrip())]
    lines[remedy.where.line - 1] = "\n".join(indent + line for line in remedy.change.splitlines())
    return "\n".join(lines) + "\n"


def test_every_edited_one_is_a_scenario() -> None:
    known = {asked.name for asked in all_scenarios()}
    assert {f"shape_mismatch__{name}" for name in (*EDITED, *WITHOUT_EDIT)} <= known
