"""Every trace of a tf.function: whose, how often, and which argument made it necessary. One real program."""

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


Told = tuple[dict[str, Any], list[Trace]]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    said, run = record(tmp_path_factory.mktemp("traces"), CODE)
    return said, run.all(Trace)


def of(told: Told, name: str) -> list[Trace]:
    return [trace for trace in told[1] if trace.name == name]


def changed(told: Told, name: str) -> list[tuple[tuple[str, str, str], ...]]:
    return [trace.changed for trace in of(told, name)]


def test_a_python_number(told: Told) -> None:
    first, second, third = changed(told, "by_int")
    assert first == ()
    assert second == (("rate", "Literal[1]", "Literal[2]"),)
    assert third[0][0] == "rate"
    assert third[0][2] == "Literal[3]"
    assert len(third) == 1


def test_a_shape(told: Told) -> None:
    _, second = changed(told, "by_shape")
    ((name, before, now),) = second
    assert name == "x"
    assert "(3, 2)" in before
    assert "(4, 2)" in now


def test_a_type(told: Told) -> None:
    ((name, before, now),) = changed(told, "by_dtype")[1]
    assert name == "x"
    assert "float32" in before
    assert "float64" in now


def test_the_keys_of_a_dictionary(told: Told) -> None:
    ((name, before, now),) = changed(told, "by_keys")[1]
    assert name == "batch"
    assert "'b'" not in before
    assert "'b'" in now


def test_a_flag(told: Told) -> None:
    assert changed(told, "by_flag")[1] == (("training", "Literal[False]", "Literal[True]"),)


def test_a_function_made_anew_is_one_function(told: Told) -> None:
    assert [trace.number for trace in of(told, "anew")] == [1, 2, 3]
    assert changed(told, "anew") == [(), (), ()]


def test_a_method_once_for_each_object(told: Told) -> None:
    assert [trace.number for trace in of(told, "method")] == [1, 2]


def test_nested_ones_are_counted_once(told: Told) -> None:
    assert [trace.number for trace in of(told, "outer")] == [1]
    assert of(told, "inner") == [], "what was traced inside another is part of that"


def test_an_exception_passes_unchanged(told: Told) -> None:
    raised = told[0]["raised"]
    assert raised["ours"] == []
    assert "mine" in str(raised["args"])
    assert of(told, "raises") == []
    assert raised["phase"] == told[0]["after"]["phase"] == 0
    assert len(of(told, "late")) == 1, "the depth is right again after it"


def test_calls_without_a_trace_are_none(told: Told) -> None:
    assert len(of(told, "quiet")) == 1


def test_where_the_function_stands_and_who_called_it(told: Told) -> None:
    trace = of(told, "by_int")[0]
    assert trace.where is not None
    assert trace.where.line == line_of(CODE, "called")
    assert trace.where.text.startswith("by_int(")
    assert trace.function is not None
    assert trace.function.file.endswith("train.py")
    assert trace.function.line < trace.where.line
    assert 0 < trace.seconds < 30
