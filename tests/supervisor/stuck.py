"""Made-up runs that make no progress: one snapshot for each cause, as the supervisor writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from laststep.analysis.stacks import SnapshotView, ThreadView
from laststep.record.decode import decode
from laststep.record.event import Event
from laststep.record.events.shared import Frame
from laststep.record.events.stacks import Snapshot, ThreadStack
from laststep.record.run import Run
from laststep.record.steps import Step
from tests.written import written

LIB = "/usr/lib/python3.11"
SITE = f"{LIB}/site-packages"
NAN = float("nan")


def frame(file: str, function: str = "f", line: int = 10, text: str = "") -> dict[str, Any]:
    fields = {"file": file, "line": line, "function": function}
    return fields if file.startswith(LIB) else {**fields, "text": text or f"{function}()"}


TRAIN = frame("/home/me/train.py", "train", 20, "model.fit(data)")
FIT = frame(f"{SITE}/keras/src/backend/tensorflow/trainer.py", "fit", 300)
EXECUTE = frame(f"{SITE}/tensorflow/python/eager/execute.py", "quick_execute", 53)
HOOK = frame(f"{SITE}/keras/src/callbacks/callback_list.py", "on_epoch_end", 90)
UPLOAD = frame("/home/me/upload.py", "on_epoch_end", 7, "requests.post(url)")
LOAD = frame("/home/me/load.py", "produce", 12, "item = q.get()")
WORK = frame("/home/me/work.py", "work", 33, "lock.acquire()")
SCRIPT_OPS = frame(f"{SITE}/tensorflow/python/ops/script_ops.py", "__call__", 100)
TRACING = frame(f"{SITE}/tensorflow/python/framework/func_graph.py", "func_graph_from_py_func", 900)
GET = frame(f"{LIB}/queue.py", "get", 171)
WAIT = frame(f"{LIB}/threading.py", "wait", 320)


def thread(*frames: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "Thread-1", "current": False, "frames": list(frames), "state": "S", "call": "", "on": "", **more}


def main(*frames: dict[str, Any], **more: Any) -> dict[str, Any]:
    return thread(*frames, **{"name": "MainThread", "current": True, **more})


def snapshot(*threads: dict[str, Any], **more: Any) -> dict[str, Any]:
    fields = {"threads": list(threads), "phase": "step", "seconds": 30.0, "slowest": 0.5, "step": 40, "waiting": 0.0}
    fields |= {"beat_age": 0.5, "pid": 77, "state": "S", "native": [], "children": [], "peers": [], "cpu": 0.0, "io": 0}
    return fields | {"pressure": {"memory": 0.0, "io": 1.0}, "memory": {}} | more


def frames_of(*fields: Mapping[str, Any]) -> tuple[Frame, ...]:
    return tuple(decode(Frame, each) for each in fields)


def threads_of(*fields: Mapping[str, Any]) -> tuple[ThreadStack, ...]:
    return tuple(decode(ThreadStack, each) for each in fields)


def thread_view(fields: Mapping[str, Any]) -> ThreadView:
    return ThreadView(decode(ThreadStack, fields))


def snapshot_view(fields: Mapping[str, Any]) -> SnapshotView:
    return SnapshotView(decode(Snapshot, fields))


IN_STEP = (EXECUTE, FIT, TRAIN)
# cause → the snapshot for which that rule and no other of its kind must answer
SNAPSHOTS: dict[str, dict[str, Any]] = {
    "input-blocked": snapshot(main(*IN_STEP), thread(WAIT, GET, LOAD, SCRIPT_OPS), waiting=29.0),
    "callback-blocked": snapshot(main(frame(f"{LIB}/ssl.py", "read"), UPLOAD, HOOK, FIT, TRAIN), phase="epoch-end"),
    "python-blocked": snapshot(main(frame("/home/me/train.py", "wait_for_file", 9), TRAIN), phase="loop"),
    "deadlocked": snapshot(main(TRAIN, call="futex"), thread(WORK, call="futex"), phase="loop"),
    "disk-stalled": snapshot(
        main(frame("/home/me/train.py", "save", 9), TRAIN, state="D", on="/mnt/nfs/ckpt"), phase="loop"
    ),
    "memory-thrashing": snapshot(main(*IN_STEP), waiting=29.0, pressure={"memory": 80.0}),
    "waiting-for-rank": snapshot(main(*IN_STEP)),
}
ONE_OF_THEM = tuple(SNAPSHOTS)  # exactly one of these explains a stall
RANKS = {"workers": ["127.0.0.1:9001", "127.0.0.1:9002"]}


def event(time: float, kind: str, /, **data: Any) -> Event:
    return written(time, kind, data, "recorder" if kind in ("recorder", "fit", "setup", "trace") else "supervisor")


def steps(count: int = 40) -> list[Step]:
    return [Step(i + 1, 100 + i / 10, 0.1, NAN, 1.0, NAN, 0, i, 1) for i in range(count)]


def stuck_run(fields: Any, *more: Event, kind: str = "stall", alive: bool = True, **settings: Any) -> Run:
    """A run that trained for 40 steps and has made no progress since."""
    began = [
        event(99.0, "run", command=["python", "train.py"], environment={}),
        event(99.1, "recorder", pid=77),
        event(99.2, "fit", id=1, epochs=3, where=TRAIN, data={"stages": []}),
    ]
    events = sorted([*began, written(140.0, kind, fields, "supervisor"), *more], key=lambda e: e.time)
    return Run(**({"id": "r", "events": tuple(events), "steps": steps(), "alive": alive} | settings))


def run_of(cause: str, *more: Event, **settings: Any) -> Run:
    setup = [event(99.1, "setup", **RANKS)] if cause == "waiting-for-rank" else []
    return stuck_run(SNAPSHOTS[cause], *setup, *more, **settings)
