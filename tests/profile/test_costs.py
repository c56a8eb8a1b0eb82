"""Shares that add up, costs per step, and the page that says them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laststep.profile.costs import Profile, common, length, make_profile, union
from laststep.profile.trace import Allocation, Op, ProfileTrace
from laststep.record.event import Event
from laststep.reports import profile as pages
from tests.written import written

MS = 10**9  # picoseconds
ORIGIN = 1_700_000_000 * 10**9
SPANS = st.lists(st.tuples(st.integers(0, 200), st.integers(1, 30)).map(lambda s: (s[0], s[0] + s[1])))


def done(*steps: tuple[int, float, float], **more: object) -> Event:
    """Steps as (number, begin, end) in milliseconds since the origin."""
    rows = [[number, ORIGIN / 1e9 + begin / 1000, ORIGIN / 1e9 + end / 1000] for number, begin, end in steps]
    layers = [[-1, "net"], [0, "dense"]]
    return written(0.0, "profile", {"state": "done", "after": 10, "wanted": 2, "steps": rows, "layers": layers} | more)


def profile(trace: ProfileTrace, event: Event) -> Profile:
    made = make_profile(trace, event)
    assert made is not None
    return made


@given(SPANS, SPANS)
def test_spans_are_counted_once(one, other):
    points = lambda spans: {at for begin, end in spans for at in range(begin, end)}  # noqa: E731
    assert length(union(one)) == len(points(one))
    assert length(common(union(one), union(other))) == len(points(one) & points(other))


def test_each_moment_has_one_share():
    trace = ProfileTrace(ORIGIN)
    trace.runs = [(0, 60 * MS), (100 * MS, 160 * MS)]
    trace.waits = [(0, 30 * MS), (100 * MS, 130 * MS)]
    trace.ops = [
        Op(20 * MS, 50 * MS, "net/dense/MatMul", "MatMul"),
        Op(20 * MS, 40 * MS, "adam/Sub", "Sub"),
        Op(120 * MS, 150 * MS, "gradient_tape/net/dense/MatMul/MatMul", "MatMul"),
        Op(0, 30 * MS, "PyFunc", "PyFunc", in_pipeline=True),
        Op(900 * MS, 990 * MS, "net/dense/MatMul", "MatMul"),  # after the last step
    ]
    made = profile(trace, done((11, 0, 100), (12, 100, 200)))
    assert made.shares == pytest.approx({"input": 0.2, "compute": 0.3, "host": 0.4, "idle": 0.1}, abs=1e-3)
    assert (made.first, made.last, made.steps) == (11, 12, 2)
    layers = {cost.layer: cost.amount for cost in made.layers}
    assert layers == pytest.approx({"dense": 0.03, "(input)": 0.015, "(optimizer)": 0.01})
    assert [(cost.op, cost.backward) for cost in made.ops if cost.layer == "dense"] == [
        ("MatMul", False),
        ("MatMul", True),
    ]


def test_with_a_device_only_its_own_work_is_compute():
    trace = ProfileTrace(ORIGIN, devices=["/device:GPU:0"], runs=[(0, 10 * MS)])
    trace.ops = [
        Op(0, 90 * MS, "net/dense/MatMul", "MatMul"),
        Op(5 * MS, 25 * MS, "net/dense/MatMul", "MatMul", on_device=True),
    ]
    made = profile(trace, done((11, 0, 100)))
    assert made.shares["compute"] == pytest.approx(0.2, abs=1e-3)
    assert made.layers[0].amount == pytest.approx(0.02)


def test_steps_that_end_together_share_their_time():
    made = profile(ProfileTrace(ORIGIN), done((14, 0, 40), (18, 40, 80)))
    assert made.steps == 8
    assert made.pace == pytest.approx(0.01)


def test_memory_is_per_step_and_of_the_allocator_that_gives_most():
    trace = ProfileTrace(ORIGIN)
    trace.memory = [
        Allocation(MS, 600, 5000, "net/dense/MatMul", "GPU_0_bfc"),
        Allocation(150 * MS, 600, 7000, "net/dense/MatMul", "GPU_0_bfc"),
        Allocation(2 * MS, 10, 99999, "x", "cpu"),
    ]
    made = profile(trace, done((11, 0, 100), (12, 100, 200)))
    assert [(cost.layer, cost.amount) for cost in made.layers_memory] == [("dense", 600)]
    assert made.peak == 7000


@pytest.mark.parametrize(
    "steps",
    [
        None,
        "no",
        [],
        [[1]],
        [[1, 2, 3, 4]],
        [["a", 1, 2]],
        [[1, 5, 5]],
        [[1, -1, 4]],
        [[float("inf"), 1, 2]],
        [[1, float("nan"), 2]],
        [[1, 2, float("inf")]],
    ],
)
def test_steps_that_make_no_sense_are_no_profile(steps):
    assert (
        make_profile(ProfileTrace(ORIGIN), written(0.0, "profile", {"steps": steps, "layers": 3, "after": "x"})) is None
    )


def test_few_steps_are_said():
    made = profile(ProfileTrace(ORIGIN), done((11, 0, 100), wanted=20, because="the program ended"))
    assert any("1 of 20 steps: the program ended" in note for note in made.notes)


@given(st.lists(st.integers(0, 1000), min_size=4, max_size=4).filter(any))
def test_percents_add_up_to_100(parts):
    shares = dict(zip(("input", "compute", "host", "idle"), (part / sum(parts) for part in parts), strict=True))
    assert sum(pages.percents(shares).values()) == 100


@pytest.mark.parametrize("width", [60, 80, 100])
def test_the_page_is_one_screen(width):
    trace = ProfileTrace(ORIGIN, runs=[(0, 90 * MS)])
    long = "a_block_with_a_very_long_name_that_somebody_gave_it_in_anger"
    for number in range(40):
        op = f"net/{long}_{number:02}x/Conv2DBackpropFilterAndMore"
        trace.ops.append(Op(number * MS, (2 * number + 2) * MS, op, "Conv2DBackpropFilterAndMore"))
        trace.memory.append(Allocation(number * MS, 10**number, 5, op, "a"))
    rows = [[-1, "net"], *([0, f"{long}_{number:02}x"] for number in range(40))]
    made = profile(trace, done((11, 0, 100), layers=rows, wanted=20, because="the program ended"))
    page = pages.page(made, "laststep · 20261116-030112-ab12", "python " + "x" * 200, ".laststep/x/profile", width)
    lines = page.splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) <= 40
    assert sum("…" in line and "_39x" in line for line in lines) == 2  # by time and by memory, the end of the name kept
