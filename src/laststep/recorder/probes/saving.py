"""With --save-before-death: pass the supervisor's request on to the end of the next step."""

from __future__ import annotations

from typing import Any

from laststep.record.steps import SAVE
from laststep.recorder import state

PROBE = "saving"


def install() -> None:
    if state.current is not None and "save" in state.current.options:
        from laststep.recorder.saver import Saver

        saver = state.current.saver = Saver(state.current)
        state.current.at_beat.append(lambda: _check_request(saver))


def _check_request(saver: Any) -> None:
    recorder = state.current
    if recorder is not None and recorder.steps is not None and recorder.steps.requests() & SAVE:
        saver.request("memory")
    saver.beat()
