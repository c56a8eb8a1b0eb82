"""What a pipeline needs for a batch, which filter can drop everything, and the lines of a loop."""

from __future__ import annotations

from typing import Any

import pytest

from laststep.analysis.pipeline import elements_for_a_batch, endless_filter, hands_over
from laststep.analysis.stacks import moving_lines
from laststep.record.decode import decode
from laststep.record.events.shared import Stage
from tests.supervisor.stuck import IN_STEP, SITE, frame, frames_of, main, snapshot, snapshot_view

REPEAT, FILTER = {"stage": "Repeat", "count": -1}, {"stage": "Filter"}


def stages(*told: dict[str, Any]) -> tuple[Stage, ...]:
    return tuple(decode(Stage, each) for each in told)


@pytest.mark.parametrize(
    "told,needed",
    [
        ((), 1),
        (({"stage": "Prefetch", "buffer_size": 9}, {"stage": "Batch", "batch_size": 32}), 32),
        (({"stage": "Batch", "batch_size": 8}, {"stage": "Shuffle", "buffer_size": 1000}), 1008),
        (({"stage": "Shuffle", "buffer_size": 10}, {"stage": "Batch", "batch_size": 8}), 88),
        (({"stage": "Skip", "count": 500}, FILTER), 501),
        (({"stage": "Shuffle", "buffer_size": -1}, {"stage": "Skip", "count": -1}), 1),
    ],
)
def test_the_elements_that_a_batch_needs(told: tuple[dict[str, Any], ...], needed: int) -> None:
    assert elements_for_a_batch(stages(*told)) == needed


@pytest.mark.parametrize(
    "told,can",
    [
        ((FILTER, REPEAT), True),
        (({"stage": "Batch"}, FILTER, {"stage": "Map"}, REPEAT, {"stage": "TensorSlice"}), True),
        ((REPEAT, FILTER), False),  # a repeat of nothing ends
        ((FILTER, {"stage": "Repeat", "count": 3}), False),
        ((FILTER, {"stage": "Repeat"}), False),  # an older record does not say how often
        ((REPEAT,), False),
    ],
)
def test_a_filter_that_can_drop_without_end(told: tuple[dict[str, Any], ...], can: bool) -> None:
    assert (endless_filter(stages(*told)) is not None) is can


def test_python_that_hands_over_elements_now() -> None:
    for calls, age, does in ((500, 0.5, True), (500, 40.0, False), (2, 0.5, False), (None, None, False)):
        view = snapshot_view(snapshot(main(*IN_STEP), calls=calls, call_age=age))
        assert hands_over(view) is does


def rows(line: int) -> dict[str, Any]:
    return frame("/home/me/rows.py", "rows", line)


NUMPY = frame(f"{SITE}/numpy/core.py", "sum", 3)
PARSE = frame("/home/me/parse.py", "parse", 70)


def test_the_outermost_function_that_moves_is_the_one_that_goes_round() -> None:
    feed = frame("/home/me/feed.py", "feed", 5)
    seen = [(NUMPY, PARSE, rows(8), feed), (rows(9), feed), (PARSE, rows(8), feed), (rows(8), feed)]
    lines = moving_lines([frames_of(*stack) for stack in seen])
    assert [(line.file, line.line, line.snapshots) for line in lines] == [
        ("/home/me/rows.py", 8, 3),
        ("/home/me/rows.py", 9, 1),
    ]


def test_where_nothing_moves_the_innermost_line_counts() -> None:
    lines = moving_lines([frames_of(NUMPY, PARSE, rows(8))] * 3)
    assert [(line.line, line.snapshots) for line in lines] == [(70, 3)]
    assert moving_lines([]) == ()
    assert moving_lines([(), frames_of(NUMPY)]) == ()
