"""When host or GPU memory grows: record what holds it, repeatedly, at growing intervals."""

from __future__ import annotations

import itertools
import sys
import time
from collections import deque
from collections.abc import Iterable
from types import FrameType
from typing import Any

from laststep.record.ownership import MIN_OWNER_SHARE
from laststep.record.steps import CENSUS
from laststep.recorder import state

PROBE = "census"
FIRST_PAUSE_SECONDS, PAUSE_FACTOR, MAX_PAUSE_SECONDS = 2.0, 1.5, 600.0
COLLECT_PAUSE_SECONDS, COLLECT_PAUSE_FACTOR = 60.0, 2.0
GPU_PAUSE_SECONDS, GPU_PAUSE_FACTOR = 0.5, 1.03  # at each of the first 23 beats (one per second), then every other …
GPU_READINGS = 8  # of GPU memory; their minima must rise throughout
MIN_RISE_BYTES, MIN_RISE_SHARE = 64e6, 0.05  # in bytes, and relative to the first reading
MAX_EXHAUSTED_EVENTS = 3  # a program may catch the error and continue


def install() -> None:
    if state.current is not None:
        state.current.at_beat.append(_CensusTaker(state.current).beat)


class _CensusTaker:
    """Until a census is requested, it costs no more than reading a few bytes."""

    def __init__(self, recorder: state.Recorder) -> None:
        self._recorder = recorder
        self._pause = FIRST_PAUSE_SECONDS
        self._next = 0.0
        self._first: dict[str, Any] = {}  # of the first census: memory in use, and the bytes of each container
        self._next_collect, self._collect_pause = 0.0, COLLECT_PAUSE_SECONDS
        self._step = -1
        self._gpu_pause = GPU_PAUSE_SECONDS
        self._next_gpu = 0.0
        self._gpu_readings: deque[int] = deque(maxlen=GPU_READINGS)
        self._gpu_memory_grows = False

    def beat(self) -> None:
        steps, now = self._recorder.steps, time.monotonic()
        if steps is None:
            return
        if now >= self._next_gpu:
            self._next_gpu = now + self._gpu_pause
            self._read_gpus()
        moved = self._recorder.count != self._step
        if moved and now >= self._next and (self._gpu_memory_grows or steps.requests() & CENSUS):
            self._take(now)

    def _take(self, now: float) -> None:
        from laststep.recorder.memory_census import take_census

        taken = take_census()
        if now >= self._next_collect and not self._is_explained(taken):
            taken["freed"] = self._collect(now)
        self._step = self._recorder.count
        _record(self._recorder, taken)
        self._next, self._pause = time.monotonic() + self._pause, min(MAX_PAUSE_SECONDS, self._pause * PAUSE_FACTOR)

    def _is_explained(self, taken: dict[str, Any]) -> bool:
        """Whether a named container grew by a substantial share of the memory growth since the first census."""
        sizes = {(entry["name"], entry["file"]): entry["bytes"] for entry in taken["containers"]}
        if not self._first:
            self._first = {"rss": taken["rss"], "sizes": sizes}
            return True
        rise = taken["rss"] - self._first["rss"]
        grew = (size - self._first["sizes"].get(name, 0) for name, size in sizes.items())
        return bool(max(grew, default=0) >= MIN_OWNER_SHARE * rise)

    def _collect(self, now: float) -> int | None:
        """A garbage collection cannot be cut into slices: only if it is short, rarely, and if its result matters."""
        from laststep.recorder.memory_census import collect

        self._next_collect, self._collect_pause = now + self._collect_pause, self._collect_pause * COLLECT_PAUSE_FACTOR
        return collect()

    def _read_gpus(self) -> None:
        """What TensorFlow's allocator has handed out: from outside, its pool looks fully used from the start."""
        gpus = _gpu_memory() if self._recorder.count else []
        if gpus:
            self._gpu_pause = min(MAX_PAUSE_SECONDS, self._gpu_pause * GPU_PAUSE_FACTOR)
            self._recorder.event("census", step=self._recorder.count, gpus=gpus)
            self._gpu_readings.append(sum(gpu["current"] for gpu in gpus))
            self._gpu_memory_grows = self._gpu_memory_grows or _rises(list(self._gpu_readings))


def _rises(readings: list[int]) -> bool:
    lows = [min(pair) for pair in zip(readings[::2], readings[1::2], strict=False)]
    steadily = len(readings) == GPU_READINGS and all(earlier < later for earlier, later in itertools.pairwise(lows))
    return steadily and lows[-1] - lows[0] > max(MIN_RISE_BYTES, MIN_RISE_SHARE * lows[0])


def _record(recorder: state.Recorder, taken: dict[str, Any], **more: Any) -> None:
    from laststep.recorder.adding_lines import adding_line

    for entry in taken["containers"][:12]:
        entry["where"] = adding_line(entry["name"], entry["file"])
    recorder.event("census", step=recorder.count, counts={"FuncGraph": len(recorder.graphs)}, **taken, **more)


def record_exhausted_gpu(error: BaseException, frames: Iterable[FrameType]) -> None:
    """A GPU is out of memory: record what holds its memory, before it is released."""
    global _exhausted
    from laststep.recorder.memory_census import take_census

    recorder = state.current
    is_gpu = type(error).__name__ == "ResourceExhaustedError" and "GPU" in str(error)
    if recorder is not None and is_gpu and recorder.count and _exhausted < MAX_EXHAUSTED_EVENTS:
        _exhausted += 1
        _record(recorder, take_census(frames), gpus=_gpu_memory(), exhausted=True)


_exhausted = 0


def _gpu_memory() -> list[dict[str, Any]]:
    context = getattr(sys.modules.get("tensorflow.python.eager.context"), "_context", None)
    config = getattr(sys.modules.get("tensorflow"), "config", None)
    if config is None or not getattr(context, "_initialized", False):
        return []
    devices = config.list_logical_devices("GPU")
    return [
        {"gpu": number} | dict(config.experimental.get_memory_info(f"GPU:{number}"))
        for number in range(min(16, len(devices)))
    ]
