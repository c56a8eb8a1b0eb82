"""The signal that asks for stacks."""

from __future__ import annotations

import signal

from laststep.record.stack_requests import stack_signal


def test_the_signal_is_a_real_time_one_that_nobody_names() -> None:
    number = stack_signal()
    if hasattr(signal, "SIGRTMIN"):
        assert signal.SIGRTMIN < number < signal.SIGRTMAX
        assert number not in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM)
    else:
        assert number == 0
