"""Every trace of a tf.function: of which function, how often, and which argument caused it. One real program."""

from __future__ import annotations

from typing import Any

import pytest

from laststep.record.events.training import Trace
from tests.recorder.real import line_of, record

pytestmark = pytest.mark.slow
CODE = """
import traceback
import tensorflow as tf
from laststep.recorder import state

@tf.function
def by_int(x, rate):
    return x * rate
for rate in (1, 2, 3):
    by_int(tf.ones(3), rate)  # <- called

@tf.function
def by_shape(x):
    return x + 1
for size in (3, 4):
    by_shape(tf.ones((size, 2)))

@tf.function
def by_dtype(x):
    return x + x
by_dtype(tf.ones(3))
by_dtype(tf.ones(3, "float64"))

@tf.function
def by_keys(batch):
    return sum(batch.values())
by_keys({"a": tf.ones(2)})
by_keys({"a": tf.ones(2), "b": tf.ones(2)})

@tf.function
def by_flag(x, training=False):
    return x * 2 if training else x
by_flag(tf.ones(2))
by_flag(tf.ones(2), training=True)

def anew(x):
    return x - 1
for _ in range(3):
    tf.function(anew)(tf.ones(2))

class Model:
    @tf.function
    def method(self, x):
        return x * 3
one, two = Model(), Model()
one.method(tf.ones(2))
one.method(tf.ones(2))
two.method(tf.ones(2))

@tf.function
def inner(x):
    return x + 5
@tf.function
def outer(x):
    return inner(x) * inner(x)
outer(tf.ones(2))
inner(tf.ones(2))

@tf.function
def raises(x):
    raise KeyError("mine")
try:
    raises(tf.ones(2))
except KeyError as error:
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    say("raised", args=list(error.args), ours=[name for name in files if "laststep" in name],
        text=traceback.format_exc(), phase=state.current.phase)

@tf.function
def late(x):
    return x * 7
late(tf.ones(2))
say("after", phase=state.current.phase)

@tf.function
def quiet(x):
    return x + 9
for _ in range(20):
    quiet(tf.ones(2))
for _ in range(2):
    tf.data.Dataset.range(3).map(lambda n: n * 2)
"""


Recorded = tuple[dict[str, Any], list[Trace]]  # what the program printed, and its traces


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    printed, run = record(tmp_path_factory.mktemp("traces"), CODE)
    return printed, run.all(Trace)


def of(recorded: Recorded, name: str) -> list[Trace]:
    return [event for event in recorded[1] if event.name == name]


def changed(recorded: Recorded, name: str) -> list[tuple[tuple[str, str, str], ...]]:
    return [event.changed for event in of(recorded, name)]


def test_a_python_number(recorded: Recorded) -> None:
    first, second, third = changed(recorded, "by_int")
    assert first == ()
    assert second == (("rate", "Literal[1]", "Literal[2]"),)
    assert third[0][0] == "rate"
    assert third[0][2] == "Literal[3]"
    assert len(third) == 1


def test_a_shape(recorded: Recorded) -> None:
    _, second = changed(recorded, "by_shape")
    ((name, before, now),) = second
    assert name == "x"
    assert "(3, 2)" in before
    assert "(4, 2)" in now


def test_a_type(recorded: Recorded) -> None:
    ((name, before, now),) = changed(recorded, "by_dtype")[1]
    assert name == "x"
    assert "float32" in before
    assert "float64" in now


def test_the_keys_of_a_dictionary(recorded: Recorded) -> None:
    ((name, before, now),) = changed(recorded, "by_keys")[1]
    assert name == "batch"
    assert "'b'" not in before
    assert "'b'" in now


def test_a_flag(recorded: Recorded) -> None:
    assert changed(recorded, "by_flag")[1] == (("training", "Literal[False]", "Literal[True]"),)


def test_a_function_made_anew_is_one_function(recorded: Recorded) -> None:
    events = of(recorded, "anew")
    assert [event.number for event in events] == [1, 2, 3]
    assert [event.changed for event in events] == [(), (), ()]


def test_a_method_once_for_each_object(recorded: Recorded) -> None:
    assert [event.number for event in of(recorded, "method")] == [1, 2]


def test_nested_ones_are_counted_once(recorded: Recorded) -> None:
    assert [event.number for event in of(recorded, "outer")] == [1]
    assert of(recorded, "inner") == [], "what was traced inside another is part of that"


def test_an_exception_passes_unchanged(recorded: Recorded) -> None:
    raised = recorded[0]["raised"]
    assert raised["ours"] == []
    assert "mine" in str(raised["args"])
    assert of(recorded, "raises") == []
    assert raised["phase"] == recorded[0]["after"]["phase"] == 0
    assert len(of(recorded, "late")) == 1, "the depth is right again after it"


def test_calls_without_a_trace_are_none(recorded: Recorded) -> None:
    assert len(of(recorded, "quiet")) == 1


def test_where_the_function_stands_and_who_called_it(recorded: Recorded) -> None:
    event = of(recorded, "by_int")[0]
    assert event.where is not None
    assert event.function is not None
    assert event.where.line == line_of(CODE, "called")
    assert event.where.text.startswith("by_int(")
    assert event.function.file.endswith("train.py")
    assert event.function.line < event.where.line
    assert 0 < event.seconds < 30
