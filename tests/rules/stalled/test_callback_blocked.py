"""callback-blocked on made-up runs."""

from __future__ import annotations

from typing import Any

from laststep.analysis.finding import Finding
from tests.rules.stalled.runs import found
from tests.supervisor.stuck import FIT, HOOK, LIB, SITE, TRAIN, UPLOAD, frame, main, snapshot, stuck_run


def blocked(*frames: dict[str, Any], **more: Any) -> Finding:
    return found(stuck_run(snapshot(main(*frames, FIT, TRAIN, **more), phase="epoch-end")))["callback-blocked"]


def test_the_users_callback_and_what_it_waits_for() -> None:
    finding = blocked(UPLOAD, HOOK, call="sleep", wakes=240.0)
    assert finding.cause == "Training waits for a callback's on_epoch_end, which does not return: /home/me/upload.py:7."
    assert finding.evidence[1].says.endswith("in the callback, is at /home/me/upload.py:7, sleeping for another 4 min")


def test_a_callback_of_keras_is_named_by_its_file() -> None:
    keras = frame(f"{SITE}/keras/src/callbacks/remote_monitor.py", "on_epoch_end", 60)
    finding = blocked(frame(f"{LIB}/ssl.py", "read"), keras, HOOK)
    assert "Keras's own callback remote_monitor (on_epoch_end)" in finding.cause
    assert finding.where is not None
    assert finding.where.line == TRAIN["line"], "where fit is called"


def test_keras_between_two_callbacks_is_no_callback() -> None:
    assert "callback-blocked" not in found(stuck_run(snapshot(main(HOOK, FIT, TRAIN), phase="epoch-end")))
