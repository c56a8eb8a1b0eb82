"""When memory grows, the machine's or a card's: look who holds it, again and again, ever more rarely."""

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
FIRST_PAUSE, SLOWER, LONGEST_PAUSE = 2.0, 1.5, 600.0
COLLECT_PAUSE, COLLECT_SLOWER = 60.0, 2.0
GPU_PAUSE, GPU_SLOWER = 0.5, 1.03  # a beat is a second: each of the first 23, then every other one, and so on
LOOKS = 8  # at the cards' memory, whose lows must rise all the while
LEAST_RISE, LEAST_PART = 64e6, 0.05  # bytes, and of what was in use at first
MOST_EXHAUSTED = 3  # a program may catch the error and go on


def install() -> None:
    if state.current is not None:
        state.current.at_beat.append(_Taker(state.current).beat)


class _Taker:
    """Costs nothing but a look at a few bytes until it is asked."""

    def __init__(self, recorder: state.Recorder) -> None:
        self._recorder = recorder
        self._pause = FIRST_PAUSE
        self._next = 0.0
        self._first: dict[str, Any] = {}  # of the first census: memory in use, and the containers' bytes
        self._next_collect, self._collect_pause = 0.0, COLLECT_PAUSE
        self._step = -1
        self._gpu_pause = GPU_PAUSE
        self._next_gpu = 0.0
        self._held: deque[int] = deque(maxlen=LOOKS)
        self._card_grows = False

    def beat(self) -> None:
        steps, now = self._recorder.steps, time.monotonic()
        if steps is None:
            return
        if now >= self._next_gpu:
            self._next_gpu = now + self._gpu_pause
            self._look_at_gpus()
        moved = self._recorder.count != self._step
        if moved and now >= self._next and (self._card_grows or steps.asked() & CENSUS):
            self._take(now)

    def _take(self, now: float) -> None:
        from laststep.recorder.census import take_census

        taken = take_census()
        if now >= self._next_collect and not self._is_explained(taken):
            taken["freed"] = self._collect(now)
        self._step = self._recorder.count
        _tell(self._recorder, taken)
        self._next, self._pause = time.monotonic() + self._pause, min(LONGEST_PAUSE, self._pause * SLOWER)

    def _is_explained(self, taken: dict[str, Any]) -> bool:
        """Whether a container that has a name grew by a good part of what memory grew by since the first census."""
        sizes = {(entry["name"], entry["file"]): entry["bytes"] for entry in taken["containers"]}
        if not self._first:
            self._first = {"rss": taken["rss"], "sizes": sizes}
            return True
        rise = taken["rss"] - self._first["rss"]
        grew = (size - self._first["sizes"].get(name, 0) for name, size in sizes.items())
        return bool(max(grew, default=0) >= MIN_OWNER_SHARE * rise)

    def _collect(self, now: float) -> int | None:
        """A call that cannot be cut into slices: only where it is short, seldom, and where it decides something."""
        from laststep.recorder.census import collect

        self._next_collect, self._collect_pause = now + self._collect_pause, self._collect_pause * COLLECT_SLOWER
        return collect()

    def _look_at_gpus(self) -> None:
        """What TensorFlow's own allocator has given out: from outside its whole pool looks full from the start."""
        held = _gpu_memory() if self._recorder.count else []
        if held:
            self._gpu_pause = min(LONGEST_PAUSE, self._gpu_pause * GPU_SLOWER)
            self._recorder.event("census", step=self._recorder.count, gpus=held)
            self._held.append(sum(card["current"] for card in held))
            self._card_grows = self._card_grows or _rises(list(self._held))


def _rises(held: list[int]) -> bool:
    lows = [min(pair) for pair in zip(held[::2], held[1::2], strict=False)]
    steadily = len(held) == LOOKS and all(earlier < later for earlier, later in itertools.pairwise(lows))
    return steadily and lows[-1] - lows[0] > max(LEAST_RISE, LEAST_PART * lows[0])


def _tell(recorder: state.Recorder, taken: dict[str, Any], **more: Any) -> None:
    from laststep.recorder.owners import putting_line

    for entry in taken["containers"][:12]:
        entry["where"] = putting_line(entry["name"], entry["file"])
    recorder.event("census", step=recorder.count, counts={"FuncGraph": len(recorder.graphs)}, **taken, **more)


def tell_what_fills_the_card(error: BaseException, frames: Iterable[FrameType]) -> None:
    """A card has no room left: who holds what is on it, before all of it is let go."""
    global _exhausted
    from laststep.recorder.census import take_census

    recorder = state.current
    is_card = type(error).__name__ == "ResourceExhaustedError" and "GPU" in str(error)
    if recorder is not None and is_card and recorder.count and _exhausted < MOST_EXHAUSTED:
        _exhausted += 1
        _tell(recorder, take_census(frames), gpus=_gpu_memory(), exhausted=True)


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
