"""What rules answer where they cannot judge a training, or where it does well although something looks wrong."""

from __future__ import annotations

from laststep.analysis.finding import Answer, cannot, measured, no
from laststep.analysis.learning.bad_step import bad_site
from laststep.analysis.learning.learning import Learning
from laststep.analysis.learning.site import last_site, trains_in_turns
from laststep.record.run import Run
from laststep.text import format_count


def no_finite_site(run: Run) -> Answer:
    """Why `finite_site` is None."""
    last = last_site(run)
    if last is None:
        return no("no gradients were recorded")
    if bad_site(run) is not None:
        return no("a number became NaN or Inf, which has rules of its own")
    if trains_in_turns(run):
        return cannot("several models are trained in turns")
    return cannot(f"too short to tell: {format_count(last.steps, 'step')}, {len(last.readings)} of them sampled")


def although(learning: Learning, but: str) -> Answer:
    """Something looks wrong, and the loss improves all the same; or nobody knows whether it does."""
    if learning.improves:
        return measured(f"{but}, but {learning.summary}")
    return cannot(f"{but}; {learning.open_because}")
