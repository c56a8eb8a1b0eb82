"""One of the processes that train together is slower than the others, in every step."""

from __future__ import annotations

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, cannot, measured, no
from laststep.analysis.progress import fit_place, progress
from laststep.analysis.stacks import most_seen
from laststep.analysis.stall import ranks
from laststep.record.events.supervisor import Pace, RankPace
from laststep.record.events.training import Setup
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

MOST_OF_THE_TIME, MORE = 0.6, 0.4  # of the looks


@rule(needs=("recorder",), outranks=("input-starved",))
def straggling_rank(run: Run) -> Answer:
    """One rank is slower than the others, all the time: in each step they wait for it.

    What happened
        Several processes train together and exchange gradients in each step, so all of them are as fast as the slowest.
        One has more to do than the others: it logs, validates or writes what the others do not, its share of the data
        is larger or comes more slowly, or its machine is busy with something else.

    How laststep knows
        While steps go by it looks, once a second, at all ranks that run on this machine, and counts how often each is
        at work (in a line of the program's own, in its input pipeline, or computing) and how often it waits inside
        TensorFlow's call. Ranks that have the same to do come out alike.

    What to do
        Take the work of the line shown out of the step, or give it to all ranks alike.

    Not to be confused with
        waiting-for-rank (the one that is missing does not come at all), input-starved (all ranks wait for their data).
    """
    if ranks(run) < 2:
        return no("one process trains alone")
    pace = run.last(Pace)
    if pace is None:
        return cannot("the pace of the other ranks was not seen: they run elsewhere, or the run was too short")
    looks = pace.looks
    slow, *others = sorted(pace.ranks, key=lambda rank: -rank.at_work) or [RankPace()]
    often, next_one = slow.at_work, max((rank.at_work for rank in others), default=0)
    if not looks or not others or often < MOST_OF_THE_TIME * looks or often - next_one < MORE * looks:
        return measured(f"no rank held up the others: of {looks} looks they were at work in {often} and {next_one}")
    place = most_seen(slow.lines)
    at = f" at {words.place(place)}" if place else ""
    name = f"rank {slow.rank}"
    rest = f"rank {others[0].rank}" if len(others) == 1 else "all the others"
    says = f"in {often} of {looks} looks, one a second, {name} was at work{at}; {rest} in {next_one} at most"
    return Finding(
        cause=f"{name.capitalize()} is slower than the others, which wait for it in each step"
        + (f": it stands{at}." if at else "."),
        confidence=Confidence.LIKELY,
        evidence=(
            Evidence(f"{says}, and waited in the step otherwise", (pace,)),
            Evidence(f"TF_CONFIG names {ranks(run)} ranks", tuple(run.all(Setup)[-1:])),
            progress(run),
        ),
        remedies=(Remedy(f"Take this work out of {name}'s step, or give all ranks the same", None, place),),
        where=place or fit_place(run),
    )
