"""threads-oversubscribed on made-up samples."""

from __future__ import annotations

from tests.rules.stalled.runs import found, training
from tests.supervisor.stuck import event


def test_more_threads_than_cores() -> None:
    queue = [{"t": 100.0 + i, "queue": [float(i), 2.0 * i]} for i in range(20)]
    made = [event(99.1, "limits", cores=2.0), event(99.3, "setup", intra=64, inter=0)]
    assert "64 intra-op threads" in found(training(queue, *made))["threads-oversubscribed"].cause
    calm = [{"t": 100.0 + i, "queue": [float(i), 0.1 * i]} for i in range(20)]
    assert found(training(calm, *made)) == {}
    assert found(training(queue, made[0], event(99.3, "setup", intra=2, inter=2))) == {}
