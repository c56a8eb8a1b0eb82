"""What is ruled out was measured, and long enough."""

from __future__ import annotations

from laststep.analysis.finding import Answer, RuledOut, Unchecked
from laststep.analysis.stall import never_stuck
from laststep.record.run import Run
from laststep.record.sample import LastBeat, OtherLoad, Sample
from laststep.record.steps import NAN, Step
from laststep.rules.rule import all_rules
from tests.written import written


def run_of(samples: list[Sample], longest: float = 0.5) -> Run:
    steps = [Step(n, 10.0 + n, longest / n, NAN, NAN, NAN, 0, n, 1) for n in (1, 2, 3)]
    return Run("made-up", (written(0.0, "run", {}), written(0.1, "recorder", {"pid": 7})), steps, samples)


def answer(name: str, samples: list[Sample]) -> Answer:
    return all_rules()[name].check(run_of(samples))


def beats(count: int, waited: float, apart: float = 1.0) -> list[Sample]:
    """Ten steps between two, which waited for data for this share of the time."""
    times = [n * apart for n in range(count)]
    return [
        Sample(time=time, inside=LastBeat(phase="step", time=time, step=10 * n, waited=waited * time))
        for n, time in enumerate(times, 1)
    ]


def test_a_wait_for_data_of_a_few_seconds_is_not_ruled_out() -> None:
    few = answer("input-starved", beats(4, 0.9))
    assert few == Unchecked("too short to tell: fewer than 10 seconds of steps without a pause")
    short = answer("input-starved", beats(21, 0.9, apart=0.4))
    assert short == Unchecked("too short to tell: steps waited for data 90% of 4.0 s")
    long = answer("input-starved", beats(31, 0.01))
    assert long == RuledOut("steps waited for data 1% of 15 s (1.0 ms per step)", measured=True)


def test_the_cores_were_looked_at_for_a_while() -> None:
    def loaded(count: int, used: float) -> list[Sample]:
        others = OtherLoad(used=used, of=4.0)
        return [Sample(time=5.0 * n, queue=(5.0 * n, 0.1 * n), others=others) for n in range(count)]

    assert answer("machine-overloaded", []) == Unchecked("too short to tell who uses the cores")
    short = Unchecked("too short to tell who uses the cores: 5.0 s were measured")
    assert answer("machine-overloaded", loaded(2, 0.4)) == short
    quiet = answer("machine-overloaded", loaded(9, 0.4))
    assert quiet == RuledOut("other processes used at most 10% of its cores", measured=True)
    busy = answer("machine-overloaded", loaded(9, 3.9))
    assert busy == RuledOut("it lacked CPU time for 0.00 s of 40 s", measured=True)


def test_never_stuck_comes_with_the_longest_step() -> None:
    assert never_stuck(run_of([], longest=2.5)) == "it was never stuck: its longest step took 2.5 s"
    assert never_stuck(run_of([], longest=0.0)) == "it was never stuck while laststep watched"
