"""How long the input pipeline's Python has handed nothing over, from the count of its calls."""

from __future__ import annotations

from laststep.record.follow import Live
from laststep.record.steps import Beat
from laststep.supervisor.handover import HandoverWatcher


def live(calls: int, waiting: float = 1.0) -> Live:
    return Live(None, Beat(1, 1.0, 7, 0, 0.0, waiting), None, calls)


def test_where_nothing_is_counted_nothing_is_known() -> None:
    handover = HandoverWatcher()
    handover.see(live(0), 5.0)
    handover.note_progress()
    assert handover.calls is None
    assert handover.age(9.0) is None


def test_calls_are_counted_from_the_last_progress() -> None:
    handover = HandoverWatcher()
    handover.see(live(40), 5.0)
    handover.note_progress()
    assert (handover.calls, handover.age(6.0)) == (0, None)
    handover.see(live(43), 7.0)
    handover.see(live(43), 9.0)
    assert (handover.calls, handover.age(9.0), handover.total) == (3, 2.0, 43)


def test_the_longest_time_between_two_calls_counts_only_while_a_step_waits() -> None:
    handover = HandoverWatcher()
    handover.see(live(1), 0.0)
    handover.see(live(2), 4.0)
    handover.see(live(3, waiting=0.0), 50.0)
    assert handover.longest == 4.0
    handover.note_progress()
    handover.see(live(4), 90.0)
    assert handover.longest == 4.0, "before, it was not asked for an element"
