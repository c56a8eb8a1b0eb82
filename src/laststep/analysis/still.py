"""For how long nothing had moved when somebody ended the run, by the recorder's counters."""

from __future__ import annotations

import itertools

from laststep.analysis.signals import ended_by_somebody
from laststep.record.run import Run, view
from laststep.record.sample import LastBeat


@view
def still_since(run: Run) -> float | None:
    """Since when the counters had not changed, at the end or when somebody ended it; None: not known."""
    ended = ended_by_somebody(run)
    beats = [(s.time, _signs(s.inside)) for s in run.samples if s.inside and (ended is None or s.time <= ended)]
    same = list(itertools.takewhile(lambda beat: beat[1] == beats[-1][1], reversed(beats)))
    return same[-1][0] if same else None


def seconds_still(run: Run) -> float:
    """Before somebody ended it; 0.0 where nobody did, or where that is not known."""
    ended, since = ended_by_somebody(run), still_since(run)
    return ended - since if ended is not None and since is not None else 0.0


def _signs(beat: LastBeat) -> tuple[str, int, int]:
    """What changes with all progress."""
    return beat.phase, beat.step, beat.pulse
