"""One of the processes that train together is slower than the others, in every step."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, cannot, measured, no
from laststep.analysis.progress import fit_place, progress
from laststep.analysis.stacks import most_seen
from laststep.analysis.stall import ranks
from laststep.record.events.supervisor import Pace, RankPace
from laststep.record.events.training import Setup
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule
from laststep.text import format_place

MIN_BUSY_SHARE = 0.6  # of the snapshots
MIN_BUSY_LEAD = 0.4  # of the snapshots, over the next rank


@rule(sees=("inside",), ends=False)
def straggling_rank(run: Run) -> Answer:
    """One rank is slower than the others all the time: in each step they wait for it.

    What happened
        Several processes train together and exchange gradients in each step, so all of them are as slow as the
        slowest. One has more to do than the others: it logs, validates or writes what the others do not, its share of
        the data is larger or arrives more slowly, or its machine is busy with something else.

    How laststep knows
        While steps are running it takes a snapshot once a second of all ranks on this machine. It counts how often
        each is busy (at a line of the program's own, in its input pipeline, or computing) and how often it waits
        inside TensorFlow's call. Ranks with the same work have similar counts.

    What to do
        Move the work of the line shown out of the step, or distribute it evenly over all ranks.

    Not to be confused with
        waiting-for-rank (the missing rank does not arrive at all), input-starved (all ranks wait for their data).
    """
    if ranks(run) < 2:
        return no("one process trains alone")
    pace = run.last(Pace)
    if pace is None:
        return cannot("the other ranks were not observed: they run on other machines, or the run was too short")
    total = pace.snapshots
    slow, *others = sorted(pace.ranks, key=lambda rank: -rank.at_work) or [RankPace()]
    busy, next_busy = slow.at_work, max((rank.at_work for rank in others), default=0)
    if not total or not others or busy < MIN_BUSY_SHARE * total or busy - next_busy < MIN_BUSY_LEAD * total:
        return measured(f"no rank held up the others: they were busy in {busy} and {next_busy} of {total} snapshots")
    place = most_seen(slow.lines)
    at = f" at {format_place(place)}" if place else ""
    name = f"rank {slow.rank}"
    rest = f"rank {others[0].rank} in {next_busy}" if len(others) == 1 else f"the others in at most {next_busy}"
    seen = f"in {busy} of {total} snapshots, one per second, {name} was busy{at}; {rest}"
    return Finding(
        cause=f"Rank {slow.rank} is slower than the others, which wait for it in each step"
        + (f": it is busy{at}." if at else "."),
        confidence=Confidence.LIKELY,
        evidence=(
            Evidence(f"{seen}, and waiting in the step otherwise", (pace,)),
            Evidence(f"TF_CONFIG names {ranks(run)} ranks", tuple(run.all(Setup)[-1:])),
            progress(run),
        ),
        remedies=(Remedy(f"Move this work out of {name}'s step, or distribute it evenly over all ranks", None, place),),
        where=place or fit_place(run),
    )
