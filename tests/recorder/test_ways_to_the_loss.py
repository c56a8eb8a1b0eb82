"""What is found on the way to the loss in real graphs: cross-entropies, broadcast shapes, stale Python numbers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from laststep.recorder.numbers import stale_values
from laststep.recorder.numbers.broadcast import find_in_graph
from laststep.recorder.numbers.cross_entropy import find_cross_entropy

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tf() -> Any:
    return pytest.importorskip("tensorflow")


def traced(tf: Any, look: Callable[..., Any], loss: Callable[[Any, Any], Any], y_shape: tuple[int, ...]) -> Any:
    """What `look` returns for a loss made from a variable and a target."""
    weights, seen = tf.Variable(tf.ones((4, 3))), []

    @tf.function(autograph=False)
    def step(x: Any, y: Any) -> Any:
        value = loss(tf.matmul(x, weights), y)
        seen.append((look(value), y))
        return value

    step(tf.ones((8, 4)), tf.zeros(y_shape, "int32" if y_shape == (8,) else "float32"))
    return seen[0]


def test_tensorflows_own_cross_entropy_is_found_with_the_steps_own_labels(tf: Any) -> None:
    def loss(out: Any, y: Any) -> Any:
        given = tf.nn.softmax(out)
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(y, (-1,)), logits=given))

    found, y = traced(tf, find_cross_entropy, loss, (8,))
    assert [loss["described"]["name"] for loss in found] == ["sparse_softmax_cross_entropy_with_logits"]
    assert found[0]["y"]() is y
    assert found[0]["described"]["made_by"] == "Softmax"


def test_a_squared_error_is_no_cross_entropy(tf: Any) -> None:
    found, _ = traced(tf, find_cross_entropy, lambda out, y: tf.reduce_mean((out[:, 0] - y) ** 2), (8, 1))
    assert found == []


def test_a_prediction_stretched_against_a_target_is_found_with_its_line(tf: Any) -> None:
    found, _ = traced(tf, find_in_graph, lambda out, y: tf.reduce_mean((out[:, 0] - y) ** 2), (8, 1))
    assert found["shapes"] == [[8], [8, 1]]
    assert found["out"] == [8, 8]


def test_all_pairs_of_predictions_are_compared_on_purpose(tf: Any) -> None:
    def loss(out: Any, y: Any) -> Any:
        square = tf.reduce_sum(out**2, axis=1)
        return tf.reduce_mean(square[:, None] + square + 0 * y)

    found, _ = traced(tf, find_in_graph, loss, (8, 8))
    assert found is None


def test_the_function_behind_a_compiled_method_is_found(tf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stale_values, "is_users", lambda file: file == __file__)
    seen = []

    class Trainer:
        stage = 1

        @tf.function
        def step(self, x: Any) -> Any:
            look()
            return x * self.stage

    @tf.autograph.experimental.do_not_convert
    def look() -> None:
        seen.extend(code.co_name for code, _ in stale_values._codes_of_step(sys._getframe(1), None))

    trainer = Trainer()
    trainer.step(tf.ones(2))
    assert "step" in seen
