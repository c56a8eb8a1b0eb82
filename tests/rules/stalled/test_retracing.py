"""retracing on made-up traces."""

from __future__ import annotations

import pytest

from laststep.record.event import Event
from tests.rules.stalled.runs import found, training
from tests.supervisor.stuck import TRAIN, event


def traces(count: int, changed: list[list[str]], seconds: float = 1.0) -> list[Event]:
    function = {"file": "/home/me/train.py", "line": 50}
    return [
        event(101.0 + i, "trace", name="train_step", function=function, number=i + 1, seconds=seconds, where=TRAIN,
              changed=changed if i else [], step=i)
        for i in range(count)
    ]  # fmt: skip


def test_a_python_number_that_makes_a_new_graph_each_time() -> None:
    changed = [["rate", "Literal[0.1]", "Literal[0.2]"]]
    finding = found(training([], *traces(9, changed)))["retracing"]
    assert "train_step was traced 9 times (8.0 s lost)" in finding.cause
    assert "its argument rate is the Python value 0.1" in finding.cause
    assert finding.remedies[0].change == "rate = tf.constant(rate)"


def test_shapes_and_functions_created_again() -> None:
    shape = "TensorSpec(shape=({}, 8), dtype=tf.float32, name=None)"
    finding = found(training([], *traces(9, [["x", shape.format(3), shape.format(4)]])))["retracing"]
    assert "a tensor of shape (3, 8), float32" in finding.cause
    assert "reduce_retracing" in str(finding.remedies[0].change)
    assert "created again" in found(training([], *traces(9, [])))["retracing"].cause


@pytest.mark.parametrize("count,seconds", [(4, 1.0), (9, 0.01)])
def test_a_few_traces_or_quick_ones_are_normal(count: int, seconds: float) -> None:
    assert "retracing" not in found(training([], *traces(count, [], seconds)))
