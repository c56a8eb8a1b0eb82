"""Run → View: the figures that show how a run is doing now, or how it was doing at its end."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from laststep.analysis.finding import Diagnosis
from laststep.analysis.forecast import forecast_sentence
from laststep.analysis.progress import fits_are_complete
from laststep.record.events.supervisor import Forecast, Limits
from laststep.record.follow import Live
from laststep.record.run import Fit, Run
from laststep.record.sample import GpuState, LastBeat, Sample
from laststep.record.steps import Beat, Step
from laststep.reports.moment import QUIET_SECONDS, finite, last_move, phase_of, stuck_seconds, what_was_unseen
from laststep.reports.summary import what_happened
from laststep.rules.ranking import leaves_why_open
from laststep.rules.rule import all_rules
from laststep.text import format_place, format_value

RECENT_STEPS = 512  # over which the median step time is taken
LATEST_STEPS = 5  # over which the step time of now is taken
MAX_CURVE_POINTS = 2000
WAIT_WINDOW_SECONDS = 20.0
GROWTH_WINDOW_SECONDS = 300.0
STALE_SECONDS = 15.0  # an older measurement is not shown as the present


@dataclass(frozen=True)
class Gpu:
    """One GPU, as measured last."""

    number: int
    busy: float | None = None
    used: float | None = None
    total: float | None = None
    celsius: float | None = None


@dataclass(frozen=True)
class ShortFinding:
    """A finding without its evidence and remedies."""

    rule: str
    confidence: str  # "" where it is certain what ended the program, and not why
    cause: str
    where: str = ""


@dataclass(frozen=True)
class View:
    """None: not known."""

    id: str
    command: str = ""
    outcome: str = "running"
    trained: bool = False  # each fit that began was complete
    alive: bool = True
    at: float = 0.0
    began: float = 0.0
    seconds: float = 0.0
    stuck: float | None = None
    fit: str = ""
    epoch: int | None = None
    epochs: int | None = None
    batch: int | None = None
    batches: int | None = None
    step: int | None = None
    done: float | None = None
    left: float | None = None
    left_at_least: bool = False
    phase: str = ""
    step_now: float | None = None
    step_median: float | None = None
    step_curve: tuple[float, ...] = ()
    wait_share: float | None = None
    wait_seconds: float = 0.0
    wait_curve: tuple[float, ...] = ()
    loss: str | None = None
    loss_curve: tuple[float, ...] = ()
    metrics: tuple[tuple[str, str], ...] = ()
    metrics_epoch: int = 0
    memory: float | None = None
    taken: float | None = None
    limit: float | None = None
    limit_of: str = "machine"
    measured_ago: float = 0.0
    growth: float | None = None
    growth_seconds: float = 0.0
    forecast: str = ""
    cpu: float | None = None
    cores: float | None = None
    gpus: tuple[Gpu, ...] = ()
    findings: tuple[ShortFinding, ...] = ()
    end: str = ""
    unseen: str = ""  # why the training was not looked at


def view_of(diagnosis: Diagnosis, live: Live, at: float) -> View:
    """The figures at this moment. Where both `live` and the run have a value, that of `live` is newer."""
    run = diagnosis.run
    if not run.alive:
        live, at = Live(), _last_time(run)
    fit = run.fits[-1] if run.fits else None
    steps = _steps_of(run, fit, live)
    moved = last_move(run, live)
    view = View(
        id=run.id,
        command=_short(run.command),
        outcome=diagnosis.outcome,
        alive=run.alive,
        trained=fits_are_complete(run),
        at=at,
        began=run.began,
        seconds=max(0.0, at - run.began) if run.alive else run.seconds,
        stuck=stuck_seconds(run, moved, at),
        phase=phase_of(run, live, moved, at),
        findings=_findings(diagnosis),
        end="" if run.alive else what_happened(diagnosis),
        unseen=what_was_unseen(run),
        step=_last_number(run, steps),
    )
    if fit is not None:
        view = _with_progress(view, run, fit, steps, quiet=at - moved > QUIET_SECONDS)
    view = _with_losses(_with_step_times(view, steps), fit, steps)
    view = _with_waits(view, run, live)
    return _with_machine(_with_memory(view, run), run)


def _last_time(run: Run) -> float:
    times: list[float] = [run.events[-1].time, *(sample.time for sample in run.samples[-1:])]
    return max(times)


def _short(command: Sequence[str]) -> str:
    """The command without the path of the interpreter."""
    return " ".join([Path(command[0]).name, *command[1:]]) if command else ""


def _steps_of(run: Run, fit: Fit | None, live: Live) -> list[Step]:
    """The newest steps of the last fit, or of the loop where there is no fit."""
    steps = list(run.steps[-RECENT_STEPS * 128 :])
    if live.step is not None and (not steps or live.step.number > steps[-1].number):
        steps.append(live.step)
    return [step for step in steps if step.fit == (fit.id & 0xFFFF if fit else 0)]


def _last_number(run: Run, steps: Sequence[Step]) -> int | None:
    return max((step.number for step in (*run.steps[-1:], *steps[-1:])), default=None)


def _findings(diagnosis: Diagnosis) -> tuple[ShortFinding, ...]:
    """Ranked, without those that another one explains."""
    found = diagnosis.findings
    known = all_rules().get(found[0].rule) if found else None
    echoes = known.outranks if known else ()
    return tuple(
        ShortFinding(
            one.rule,
            "" if leaves_why_open(one) else one.confidence.name,
            one.cause,
            format_place(one.where, diagnosis.run.cwd),
        )
        for one in found
        if one is found[0] or (one.follows_from is None and one.rule not in echoes)
    )


def _with_progress(view: View, run: Run, fit: Fit, steps: Sequence[Step], quiet: bool) -> View:
    asked = finite(fit.began.steps) or finite(fit.epochs[-1].batches if fit.epochs else None)
    first = fit.began.initial_epoch
    epoch = steps[-1].epoch if steps else first
    batch = steps[-1].batch + 1 if steps else 0
    view = replace(
        view,
        fit=f"fit {len(run.fits)}" if len(run.fits) > 1 else "",
        epoch=epoch + 1,
        epochs=fit.asked,
        batch=min(batch, int(asked)) if asked else batch,
        batches=int(asked) if asked else None,
    )
    if not fit.asked or not asked:
        return view
    done = (epoch - first) * asked + (view.batch or 0)
    of_all = (fit.asked - first) * asked
    goes_on = run.alive and fit.ended is None and not quiet
    return replace(
        view,
        done=min(1.0, done / of_all) if of_all > 0 else None,
        left=_left(fit, steps, asked, view.at) if goes_on else None,
        left_at_least=not fit.epochs,  # the duration of a validation is not known yet
    )


def _left(fit: Fit, steps: Sequence[Step], asked: float, at: float) -> float | None:
    """Seconds left: from the duration of the last epochs with their validation; in the first one, of its steps."""
    known = [seconds for event in fit.epochs[-3:] if (seconds := finite(event.seconds)) is not None]
    epochs = (fit.asked or 0) - fit.reached
    if known:
        began = fit.epochs[-1].time
        usual = statistics.median(known)
        return max(0.0, epochs * usual - min(max(0.0, at - began), usual))
    pace = _pace(steps)
    if pace is None or not steps:
        return None
    return pace * max(0.0, epochs * asked - (steps[-1].batch + 1))


def _pace(steps: Sequence[Step]) -> float | None:
    """Seconds per batch, also where one call runs several. The first steps are left out: they include tracing."""
    recent = [step for step in steps[-200:] if step.epoch == steps[-1].epoch]
    recent = recent[2:] if len(recent) > 4 else recent
    if len(recent) < 3 or recent[-1].number <= recent[0].number:
        return None
    return max(0.0, recent[-1].time - recent[0].time) / (recent[-1].number - recent[0].number)


def _with_step_times(view: View, steps: Sequence[Step]) -> View:
    took = tuple(step.duration for step in steps[-RECENT_STEPS:] if finite(step.duration) is not None)
    if len(took) < 3:
        return view
    return replace(
        view, step_now=statistics.median(took[-LATEST_STEPS:]), step_median=statistics.median(took), step_curve=took
    )


def _with_waits(view: View, run: Run, live: Live) -> View:
    """The share of the last seconds spent waiting for data; not known if no wait was ever measured."""
    points = [_point(sample.inside) for sample in run.samples[-RECENT_STEPS:]] + [_point(live.beat)]
    known = [point for point in points if point is not None]
    recent = [point for point in known if point[0] >= view.at - WAIT_WINDOW_SECONDS]
    if len(recent) < 2 or recent[-1][1] <= 0 or recent[-1][0] - recent[0][0] < 3:
        return view
    curve = tuple(_share(*pair) for pair in itertools.pairwise(known[::5]) if pair[1][0] > pair[0][0])
    seconds = recent[-1][0] - recent[0][0]
    return replace(view, wait_share=_share(recent[0], recent[-1]), wait_seconds=seconds, wait_curve=curve)


def _share(before: tuple[float, float], after: tuple[float, float]) -> float:
    return min(1.0, max(0.0, (after[1] - before[1]) / (after[0] - before[0])))


def _point(beat: Beat | LastBeat | None) -> tuple[float, float] | None:
    """(time, seconds waited until then)"""
    if beat is None:
        return None
    at, waited = finite(beat.time), finite(beat.waited)
    return None if at is None or waited is None else (at, waited + (finite(beat.waiting) or 0.0))


def _with_losses(view: View, fit: Fit | None, steps: Sequence[Step]) -> View:
    epochs = fit.epochs if fit else ()
    if epochs:
        metrics = tuple((name, format_value(value)) for name, value in epochs[-1].metrics.items())
        view = replace(view, metrics=metrics, metrics_epoch=epochs[-1].epoch + 1)
    known = [step for step in steps[:: max(1, len(steps) // MAX_CURVE_POINTS)] if finite(step.loss) is not None]
    if not known:
        curve = tuple(loss for event in epochs if (loss := finite(event.metrics.get("loss"))) is not None)
        return replace(view, loss=f"{format_value(curve[-1])} (epoch)", loss_curve=curve) if curve else view
    return replace(view, loss=_last_loss(steps), loss_curve=tuple(step.loss for step in known))


def _last_loss(steps: Sequence[Step]) -> str:
    last = next(step for step in reversed(steps) if finite(step.loss) is not None)
    if math.isinf(steps[-1].loss):
        return f"infinite; before that {format_value(last.loss)}"
    if steps[-1].number - last.number > 64:  # of a hand-written loop only every eighth loss is read
        return f"not a number since step {last.number + 1:,}; before that {format_value(last.loss)}"
    return format_value(last.loss)


def _with_memory(view: View, run: Run) -> View:
    view = replace(_with_growth(view, run), forecast=_forecast(run, view.at))
    sample: Sample | None = next((one for one in reversed(run.samples[-60:]) if one.rss), None)
    if sample is None:
        return view
    view = replace(view, memory=float(sample.rss), measured_ago=max(0.0, view.at - sample.time))
    group, host = sample.group, sample.host
    if group is not None and group.limit:
        return replace(view, taken=float(group.used), limit=float(group.limit), limit_of="limit")
    if host.total and host.available is not None:
        return replace(view, taken=float(host.total - host.available), limit=float(host.total))
    return view


def _forecast(run: Run, at: float) -> str:
    """The last forecast, counted from now; "" once its time has passed and memory has not run out."""
    event = run.last(Forecast)
    if event is None or at > event.time + max(event.seconds or 0.0, event.latest or 0.0):
        return ""
    return forecast_sentence(event, at)


def _with_growth(view: View, run: Run) -> View:
    """How much the program's memory grew during training, in the last minutes."""
    begun = run.steps[0].time + 10 if run.steps else math.inf  # the first steps allocate what is kept for the whole run
    last = run.samples[-1].time if run.samples else 0.0
    recent = [sample for sample in run.samples[-1500:] if sample.time >= max(begun, last - GROWTH_WINDOW_SECONDS)]
    sizes = [(sample.time, float(sample.rss)) for sample in recent if sample.rss]
    if len(sizes) < 20:
        return view
    growth = _middle(sizes[-5:]) - _middle(sizes[:5])
    return replace(view, growth=growth, growth_seconds=sizes[-1][0] - sizes[0][0])


def _middle(pairs: Iterable[tuple[float, float]]) -> float:
    return statistics.median(value for _, value in pairs)


def _with_machine(view: View, run: Run) -> View:
    samples: list[Sample] = [sample for sample in run.samples[-120:] if sample.time > view.at - STALE_SECONDS]
    cpu = [value for sample in samples[-5:] if (value := finite(sample.cpu)) is not None]
    return replace(
        view,
        cpu=statistics.mean(cpu) if cpu else None,
        cores=next((cores for event in run.all(Limits) if (cores := finite(event.cores))), None),
        gpus=next((tuple(map(_gpu, sample.gpus)) for sample in reversed(samples) if sample.gpus), ()),
    )


def _gpu(state: GpuState) -> Gpu:
    values = (finite(value) for value in (state.busy, state.used, state.total, state.celsius))
    return Gpu(state.gpu, *values)
