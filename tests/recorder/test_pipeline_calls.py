"""How often the input pipeline calls Python is counted, and leaves no trace of ours. One real program."""

from __future__ import annotations

from typing import Any

import pytest

from tests.recorder.real import record

pytestmark = pytest.mark.slow
CODE = """
import sys, traceback
import numpy as np
import tensorflow as tf
from laststep.recorder import patch, state

recorder, stacks = state.current, []
def rows():
    for number in range(40):
        stacks.append([frame.filename for frame in traceback.extract_stack()])
        yield np.float32(number)
def counted(train):
    before = recorder.pipeline_calls
    train()
    return recorder.pipeline_calls - before
signature = tf.TensorSpec((), tf.float32)
generator = tf.data.Dataset.from_generator(rows, output_signature=signature)
doubled = lambda x: tf.py_function(lambda value: value * 2, [x], tf.float32)
say("counts", generator=counted(lambda: list(generator.batch(8))),
    py_function=counted(lambda: list(tf.data.Dataset.range(30).map(lambda x: doubled(tf.cast(x, tf.float32))))),
    tensorflow=counted(lambda: list(tf.data.Dataset.range(500).map(lambda x: x * 2).filter(lambda x: x > 9))))
say("stack", ours=sum("laststep" in name for stack in stacks for name in stack), seen=len(stacks))

def broken():
    yield np.float32(1)
    raise ValueError("row 2 has no label")
try:
    list(tf.data.Dataset.from_generator(broken, output_signature=signature))
except tf.errors.InvalidArgumentError as error:
    say("raised", message=str(error))
patch.restore("pipeline_calls")
say("restored", calls=counted(lambda: list(generator)))
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return record(tmp_path_factory.mktemp("calls"), CODE)[0]


def test_each_call_is_counted_and_no_more(printed: dict[str, Any]) -> None:
    counts = printed["counts"]
    assert 40 <= counts["generator"] <= 44, "and one to begin, one that finds the end, one to finish"
    assert counts["py_function"] == 30
    assert counts["tensorflow"] == 0


def test_no_frame_of_ours_is_on_the_stack_of_the_generator(printed: dict[str, Any]) -> None:
    assert printed["stack"]["seen"] == 40
    assert printed["stack"]["ours"] == 0


def test_an_error_in_the_generator_shows_the_users_frames_alone(printed: dict[str, Any]) -> None:
    assert "row 2 has no label" in printed["raised"]["message"]
    assert "laststep" not in printed["raised"]["message"]


def test_it_can_be_removed(printed: dict[str, Any]) -> None:
    assert printed["restored"]["calls"] == 0
