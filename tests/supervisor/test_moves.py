"""What several snapshots show together, on snapshots made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from laststep.analysis.stacks import SnapshotView
from laststep.supervisor import moves
from laststep.supervisor.attach import is_whole
from laststep.supervisor.moves import TimedView
from laststep.supervisor.stacks import parse_dump
from tests.supervisor.stuck import snapshot_view, threads_of

TRAINER = "/venv/lib/python3.11/site-packages/keras/src/backend/tensorflow/trainer.py"
EXECUTE = {"file": "/venv/lib/python3.11/site-packages/tensorflow/python/eager/execute.py", "function": "quick_execute"}
USER = {"file": "/home/anna/train.py", "line": 12, "function": "<module>", "text": "model.fit(data)"}


def frame(function: str, file: str = TRAINER, **counters: int) -> dict[str, Any]:
    return {"file": file, "line": 399, "function": function, "counters": counters}


def main(*frames: dict[str, Any], call: str = "futex") -> dict[str, Any]:
    return {"name": "MainThread", "current": True, "tid": 1, "call": call, "frames": [*frames, USER]}


def snapshot(*frames: dict[str, Any], call: str = "futex", **data: Any) -> SnapshotView:
    return snapshot_view({"threads": [main(*frames, call=call)], **data})


def in_fit(epoch: int, step: int, **more: int) -> SnapshotView:
    return snapshot(EXECUTE, frame("fit", epoch=epoch, begin_step=step, **({"epochs": 5, "initial_epoch": 0} | more)))


def views(*shown: SnapshotView) -> list[TimedView]:
    return [TimedView(float(at), one) for at, one in enumerate(shown)]


@pytest.mark.parametrize(
    ("answer", "phase"),
    [
        (in_fit(0, 0), "first step"),
        (in_fit(1, 0), "epoch start"),
        (in_fit(1, 7), "step"),
        (snapshot(EXECUTE, frame("fit", epochs=5)), "the start of fit"),
        (snapshot(EXECUTE, frame("evaluate"), frame("fit", epoch=1, begin_step=9)), "validation"),
        (snapshot(EXECUTE, frame("predict")), "predict"),
        (snapshot(EXECUTE), "loop"),
        (snapshot(), "the program's own code"),
        (snapshot(frame("fit", "/home/anna/fit.py")), "the program's own code"),
        (snapshot({"file": "/x/func_graph.py", "function": "func_graph_from_py_func"}, frame("fit")), "trace"),
        (snapshot({"file": "/home/anna/cb.py", "function": "on_epoch_end", "line": 3},
              {"file": "/x/keras/src/callbacks/callback_list.py", "function": "on_epoch_end", "line": 1},
              frame("fit", epoch=1)), "a callback"),
    ],
)  # fmt: skip
def test_the_phase(answer, phase):
    assert moves.phase_of(answer) == phase


def test_stuck_is_idle_and_the_same():
    same = views(*[in_fit(1, 7)] * 3)
    assert moves.state_of(same, idle=True, wakes=0.0) == "stuck"
    assert moves.state_of(same, idle=True, wakes=20.0) == "waking"
    assert moves.state_of(same, idle=False, wakes=0.0) == "busy"
    assert moves.state_of(same[:2], idle=True, wakes=0.0) == "unseen"


def test_a_counter_that_moves_is_enough():
    assert moves.state_of(views(in_fit(1, 7), in_fit(1, 7), in_fit(1, 8)), idle=True, wakes=0.0) == "moving"


def test_a_feeder_that_moves_is_enough():
    def fed(line: int) -> SnapshotView:
        step = main(EXECUTE, frame("fit", epoch=1, begin_step=7, epochs=5, initial_epoch=0))
        own = {"file": "/home/anna/data.py", "line": line, "function": "gen", "text": "x"}
        return snapshot_view({"threads": [step, {"frames": [own, {"file": "/tf/script_ops.py", "function": "call"}]}]})

    assert moves.state_of(views(fed(3), fed(3), fed(4)), idle=True, wakes=0.0) == "moving"
    assert moves.state_of(views(fed(3), fed(3), fed(3)), idle=True, wakes=0.0) == "stuck"


def test_the_pace_over_an_epoch_s_end():
    each = {"steps_per_epoch": 10}
    assert moves.pace(views(in_fit(0, 4, **each), in_fit(0, 8, **each), in_fit(1, 2, **each))) == 4.0
    assert moves.pace(views(in_fit(0, 4), in_fit(0, 8), in_fit(1, 2), in_fit(1, 6))) == 4.0
    assert moves.pace(views(in_fit(0, 4), in_fit(0, 4))) is None
    assert moves.pace(views(snapshot(), snapshot())) is None


def test_progress_in_words():
    at = moves.counters_of(in_fit(2, 119, steps_per_epoch=200))
    assert moves.progress(at, None) == "epoch 3 of 5, batch 120 of 200"
    going = "epoch 3 of 5, batch 120 of 200; 20 steps/s, about 24 s left without validation"
    assert moves.progress(at, 20.0) == going
    assert moves.progress(moves.counters_of(in_fit(2, 119)), 0.25) == "epoch 3 of 5, batch 120; 4.0 s per step"
    assert moves.progress(moves.counters_of(snapshot(frame("fit", epochs=5))), None) == "before the first of 5 epochs"
    assert moves.progress(moves.counters_of(snapshot()), None) == ""


def test_counters_of_older_keras():
    answer = snapshot(EXECUTE, frame("fit", "/x/tf_keras/src/engine/training.py", epoch=0, epochs=3, step=41))
    assert moves.progress(moves.counters_of(answer), None) == "epoch 1 of 3, batch 42"
    assert moves.phase_of(answer) == "step"


def test_quiet_since():
    assert moves.quiet_since(views(in_fit(0, 1), in_fit(0, 2), in_fit(0, 2), in_fit(0, 2))) == 2.0
    assert moves.quiet_since(views(in_fit(0, 1), in_fit(0, 2))) == 0.0


@pytest.mark.parametrize(
    ("call", "seconds", "still", "enough"),
    [
        ("futex", 10, True, True),
        ("futex", 5, True, False),
        ("futex", 10, False, False),
        ("sleep", 10, True, False),
        ("sleep", 31, True, True),
        ("recv", 10, True, False),
        ("recv", 21, True, True),
    ],
)
def test_long_enough_to_be_likely(call, seconds, still, enough):
    assert moves.is_long_enough(snapshot(call=call, still=still), seconds) is enough


def test_a_stack_that_was_read_in_halves():
    assert is_whole(threads_of({"current": True, "frames": [EXECUTE, USER]}))
    assert not is_whole(threads_of({"current": True, "frames": [EXECUTE]}))
    assert not is_whole(threads_of({"current": True, "frames": []}))
    assert not is_whole(())


def test_of_the_variables_only_whole_numbers_of_these_names_are_kept():
    answer = [
        {"name": "epoch", "repr": "3"},
        {"name": "step", "repr": '"a string"'},
        {"name": "i", "repr": None},
        {"name": "steps", "repr": "True"},
        {"name": "password", "repr": "1234"},
    ]
    frame = {"filename": "/x/train.py", "line": 3, "name": "train", "locals": answer}
    [thread] = parse_dump([{"os_thread_id": 7, "frames": [frame]}], pid=7)
    assert [each.counters for each in thread.frames] == [{"epoch": 3}]
