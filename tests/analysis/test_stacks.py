"""What a run that does not move is doing, from made-up threads."""

from __future__ import annotations

from typing import Any

import pytest

from laststep.analysis.stacks import SnapshotView, count_places, most_seen
from laststep.record.place import Place
from tests.supervisor.stuck import frames_of, snapshot_view, thread_view

LIB = "/usr/lib/python3.11"
SITE = f"{LIB}/site-packages"
TRAIN = "/home/me/train.py"


def frame(file: str, function: str = "f", line: int = 10, text: str = "x()") -> dict[str, Any]:
    if file.startswith(LIB):
        return {"file": file, "line": line, "function": function}
    return {"file": file, "line": line, "function": function, "text": text}


USER = frame(TRAIN, "train", 20)
FIT = frame(f"{SITE}/keras/src/backend/tensorflow/trainer.py", "fit", 300)
EXECUTE = frame(f"{SITE}/tensorflow/python/eager/execute.py", "quick_execute", 53)
HOOK = frame(f"{SITE}/keras/src/callbacks/callback_list.py", "on_epoch_end", 90)
SCRIPT_OPS = frame(f"{SITE}/tensorflow/python/ops/script_ops.py", "__call__", 100)
NEXT = frame(f"{SITE}/tensorflow/python/data/ops/iterator_ops.py", "__next__", 800)
GET = frame(f"{LIB}/queue.py", "get", 171)
WAIT = frame(f"{LIB}/threading.py", "wait", 320)


def thread(*frames: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"frames": list(frames), **more}


def main(*frames: dict[str, Any], **more: Any) -> dict[str, Any]:
    return thread(*frames, current=True, name="MainThread", **more)


def snapshot(*threads: dict[str, Any], **more: Any) -> SnapshotView:
    return snapshot_view({"threads": list(threads), "seconds": 30.0, **more})


@pytest.mark.parametrize(
    "frames,waits_for",
    [
        ([WAIT, GET, USER], "queue"),
        ([WAIT, frame(f"{LIB}/queue.py", "put"), USER], "queue"),
        ([WAIT, frame(f"{LIB}/queue.py", "join"), USER], "queue.join"),
        ([WAIT, frame(f"{LIB}/concurrent/futures/_base.py", "result"), USER], "future"),
        ([WAIT, frame(f"{LIB}/threading.py", "wait"), frame(f"{LIB}/multiprocessing/pool.py", "get"), USER], "pool"),
        ([WAIT, USER], "event"),
        ([frame(f"{LIB}/threading.py", "join"), USER], "thread"),
        ([frame(f"{LIB}/threading.py", "_wait_for_tstate_lock"), frame(f"{LIB}/threading.py", "join"), USER], "thread"),
        ([frame(f"{LIB}/threading.py", "acquire"), USER], "lock"),
        ([frame(f"{LIB}/multiprocessing/synchronize.py", "__enter__"), USER], "lock"),
        ([frame(f"{LIB}/multiprocessing/connection.py", "_recv"), USER], "pipe"),
        ([frame(f"{LIB}/subprocess.py", "_try_wait"), frame(f"{LIB}/subprocess.py", "wait"), USER], "process"),
        ([frame(f"{LIB}/logging/__init__.py", "acquire"), USER], "lock"),
        ([USER], ""),
        ([], ""),
    ],
)
def test_what_of_another_s_it_waits_for(frames: list[dict[str, Any]], waits_for: str) -> None:
    assert thread_view({"frames": frames}).waits_for == waits_for


def test_a_users_lock_is_a_futex_under_a_line_of_theirs() -> None:
    assert thread_view(thread(USER, call="futex")).waits_for == "lock"
    assert thread_view(thread(USER, call="sleep")).waits_for == ""
    assert thread_view(thread(EXECUTE, USER, call="futex")).waits_for == "", (
        "TensorFlow's own waits are not a Python lock"
    )


def test_who_wakes_often_at_a_lock_sleeps() -> None:
    """After each short sleep a thread takes Python's own lock."""
    assert thread_view(thread(USER, call="futex", woke=80)).waits_for == ""
    assert thread_view(thread(USER, call="futex", woke=80)).call == "sleep"
    assert thread_view(thread(USER, call="futex", woke=3)).waits_for == "lock"
    assert thread_view(thread(USER, call="recv", woke=80)).call == "recv"


def test_a_users_file_of_the_same_name_is_not_the_library() -> None:
    own = frame("/home/me/queue.py", "run"), USER
    assert thread_view(thread(*own)).waits_for == ""
    assert thread_view(thread(*own, call="futex")).waits_for == "lock", "a line of the user's, in a lock"


def test_a_wait_further_out_than_foreign_code_does_not_count() -> None:
    assert thread_view(thread(EXECUTE, GET, USER)).waits_for == ""


@pytest.mark.parametrize(
    "frames,doing",
    [
        ([frame(f"{SITE}/tensorflow/python/framework/func_graph.py", "func_graph_from_py_func"), FIT, USER], "trace"),
        ([frame(f"{SITE}/keras/src/saving/saving_lib.py", "save_model"), HOOK, FIT, USER], "save"),
        ([frame(TRAIN, "on_epoch_end"), HOOK, FIT, USER], "callback"),
        ([NEXT, USER], "input"),
        ([WAIT, frame(f"{SITE}/keras/src/trainers/data_adapters/py_dataset_adapter.py", "get"), FIT, USER], "input"),
        ([EXECUTE, FIT, USER], "execute"),
        ([GET, USER], "user"),
        ([USER], "user"),
        ([FIT], ""),
        ([], ""),
    ],
)
def test_what_the_main_thread_is_at(frames: list[dict[str, Any]], doing: str) -> None:
    assert snapshot(main(*frames)).doing == doing


def test_nothing_is_known_without_a_main_thread() -> None:
    empty = snapshot(thread(USER))
    assert (empty.doing, empty.main.frames, empty.waits_for_data) == ("", (), False)
    assert empty.blocked.place is None


@pytest.mark.parametrize(
    "more,waits",
    [
        ({"waiting": 29.0}, True),
        ({"waiting": 16.0}, True),
        ({"waiting": 14.0}, False),  # less than half of the time
        ({"waiting": 0.0}, False),
        ({}, False),
        ({"watched": True, "native": [{"on": "/data/fifo", "call": "open"}]}, True),
        ({"watched": True, "native": [{"on": "/data/x", "call": "read"}], "cpu": 1.0}, False),
        ({"watched": True, "native": []}, False),
        ({"native": [{"on": "/data/fifo", "call": "open"}]}, False),  # from inside the mark is there, and says no
    ],
)
def test_whether_the_step_waits_for_data(more: dict[str, Any], waits: bool) -> None:
    assert snapshot(main(EXECUTE, FIT, USER), **more).waits_for_data is waits
    assert snapshot(main(USER), **more).waits_for_data is False, "outside TensorFlow's call no step waits"


def test_without_a_mark_the_pipelines_python_tells() -> None:
    feeder = thread(GET, frame("/home/me/load.py", "produce"), SCRIPT_OPS)
    assert snapshot(main(EXECUTE, FIT, USER), feeder).waits_for_data
    assert not snapshot(main(EXECUTE, FIT, USER), feeder, waiting=1.0).waits_for_data, "the mark knows better"


def test_the_feeders_are_the_users_lines_in_the_pipeline() -> None:
    load = frame("/home/me/load.py", "produce", 12)
    feeder = thread(WAIT, GET, load, SCRIPT_OPS, name="Thread-3")
    other = thread(WAIT, frame("/home/me/monitor.py", "watch"), name="Thread-4")
    without = thread(SCRIPT_OPS, name="Thread-5")
    seen = snapshot(main(EXECUTE, FIT, USER), feeder, other, without, waiting=30.0)
    assert [answer.name for answer in seen.feeders] == ["Thread-3"]
    assert seen.blocked.place == Place("/home/me/load.py", 12, "x()", is_users=True)
    computing = snapshot(main(EXECUTE, FIT, USER), feeder, waiting=1.0)
    assert computing.blocked is computing.main, "who does not wait for data is not held up by the pipeline"


def test_a_pool_behind_the_pipeline_feeds_too() -> None:
    adapter = frame(f"{SITE}/keras/src/trainers/data_adapters/py_dataset_adapter.py", "get")
    worker = thread(GET, frame("/home/me/load.py", "__getitem__", 12), name="worker")
    assert [answer.name for answer in snapshot(main(WAIT, adapter, FIT, USER), worker).feeders] == ["worker"]
    assert snapshot(main(EXECUTE, FIT, USER), worker).feeders == []


def test_our_own_threads_are_nobodys() -> None:
    ours = thread(USER, frame("/x/laststep/recorder/heartbeat.py", "_run"))
    through = thread(frame("/x/laststep/recorder/probes/data_wait.py", "wrapper"), USER)
    assert [one.frames for one in snapshot(main(USER), ours, through).others] == [frames_of(*through["frames"])]


def test_the_part_inside_a_callback() -> None:
    inner = frame("/home/me/callbacks.py", "upload", 7)
    inside = thread_view(thread(GET, inner, HOOK, FIT, USER)).callback
    assert inside is not None
    assert inside.place == Place("/home/me/callbacks.py", 7, "x()", is_users=True)
    assert [answer.function for answer in inside.frames] == ["get", "upload"]
    assert thread_view(thread(FIT, USER)).callback is None
    assert thread_view(thread(HOOK, FIT, USER)).callback is None, "Keras's list itself is no callback"
    tf_keras = frame(f"{SITE}/tf_keras/src/callbacks.py", "on_epoch_end", 90)
    assert thread_view(thread(inner, tf_keras, USER)).callback is not None
    assert thread_view(thread(inner, frame(HOOK["file"], "_call"), USER)).callback is None


def test_idle_means_neither_processor_nor_bytes() -> None:
    assert snapshot(cpu=0.01, io=100).idle
    assert not snapshot(cpu=0.2).idle
    assert not snapshot(cpu=0.0, io=5_000_000).idle


def test_whose_line_it_is_says_the_record() -> None:
    """A program that is an installed package: its lines are the user's where whoever saw the stack says so."""
    own = frame(f"{SITE}/mypackage/train.py", "train", 12) | {"text": "gate.wait()"}
    assert snapshot(main(WAIT, own)).main.place is None, "an older record does not say"
    recorded = snapshot(main(WAIT | {"is_users": False}, own | {"is_users": True}))
    assert recorded.main.place == Place(own["file"], 12, "gate.wait()", is_users=True)
    assert recorded.doing == "user"


def test_the_lines_of_several_snapshots_the_most_frequent_first() -> None:
    here, there = Place("/home/me/a.py", 1, "f()"), Place("/home/me/a.py", 2, "g()")
    lines = count_places([there, here, None, here, Place("/home/me/a.py", 1, "f()")])
    assert [(line.line, line.text, line.snapshots) for line in lines] == [(1, "f()", 3), (2, "g()", 1)]
    assert most_seen(lines) == here
    assert most_seen(()) is None
