"""Whether the input pipeline's Python hands elements over while a step waits for data, from the count of its calls."""

from __future__ import annotations

from laststep.record.follow import Live


class HandoverWatcher:
    """Is given what the recorder says, once a poll. A call that begins shows that the one before has come back."""

    def __init__(self) -> None:
        self.total = 0  # calls; 0 where they are not counted
        self._before = 0  # the total at the last progress
        self._changed: float | None = None  # since the last progress
        self.longest = 0.0  # seconds between two calls while a step waited for data

    def see(self, live: Live, now: float) -> None:
        if live.calls == self.total:
            return
        waiting = live.beat is not None and live.beat.waiting > 0
        if waiting and self._changed is not None:
            self.longest = max(self.longest, now - self._changed)
        self.total, self._changed = live.calls, now

    def note_progress(self) -> None:
        self._before, self._changed = self.total, None

    @property
    def calls(self) -> int | None:
        """Since the last progress; None where they are not counted."""
        return self.total - self._before if self.total else None

    def age(self, now: float) -> float | None:
        """Seconds since the last of these calls; None where there was none."""
        return now - self._changed if self._changed is not None else None
