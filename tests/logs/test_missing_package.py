"""TensorBoard's callback without TensorBoard: what to install, and the line that makes the callback."""

from __future__ import annotations

from tests.logs.printed import TRACEBACK, answer
from tests.recordings import Recordings


def test_a_recorded_run_says_what_to_install(recordings: Recordings) -> None:
    finding = recordings.answer("callback_raised__tensorboard").why["findings"][0]
    assert [remedy["change"] for remedy in finding["remedies"]] == ["pip install tensorboard"]


def test_a_bare_log_does_too() -> None:
    error = (
        "tensorflow.python.summary.tb_summary.TBNotInstalledError: TensorBoard is not installed, missing "
        "implementation for tf.summary.scalar"
    )
    finding = answer(TRACEBACK.replace("KeyError: 'speed'", error)).findings[0]
    assert [remedy.change for remedy in finding.remedies] == ["pip install tensorboard"]
    assert "pip install" not in str(answer(TRACEBACK).findings[0].remedies)
