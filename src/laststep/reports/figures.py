"""Run → View: the few figures that tell how a run does now, or how it did at its end."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laststep import text as words
from laststep.analysis.finding import Diagnosis
from laststep.record.follow import Live
from laststep.record.run import Fit, Run
from laststep.record.steps import Now, Step
from laststep.reports.terminal import what_happened
from laststep.rules.rule import all_rules

RECENT = 512  # steps that tell what is usual
LATEST = 5  # steps that tell what is now
MOST_POINTS = 2000
WAIT_SECONDS = 20.0
GROWTH_SECONDS = 300.0
LONG_WAIT = 2.0  # seconds of waiting for data that are worth a word
OLD = 15.0  # seconds after which a measurement is not what is now
QUIET = 10.0  # seconds without a sign of life that are
PHASES = {
    "step": "training",
    "between": "between two parts of training",
    "validation": "in validation",
    "epoch-end": "at the end of an epoch (callbacks)",
    "start": "fit is starting",
    "evaluate": "in evaluate",
    "predict": "in predict",
    "trace": "TensorFlow traces a function",
    "save": "saving the model",
    "exit": "leaving",
}


@dataclass(frozen=True)
class Gpu:
    """One GPU as last measured."""

    number: int
    busy: float | None = None
    used: float | None = None
    total: float | None = None
    celsius: float | None = None


@dataclass(frozen=True)
class Told:
    """A finding in short."""

    rule: str
    confidence: str
    cause: str
    where: str = ""


@dataclass(frozen=True)
class View:
    """None stands for what is not known."""

    id: str
    command: str = ""
    outcome: str = "running"
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
    step_usual: float | None = None
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
    findings: tuple[Told, ...] = ()
    end: str = ""


def view_of(diagnosis: Diagnosis, live: Live, at: float) -> View:
    """The figures at this moment; `live` is newer than the run where both say something."""
    run = diagnosis.run
    if not run.alive:
        live, at = Live(), _last_time(run)
    began = run.fits[-1] if run.fits else None
    steps = _steps_of(run, began, live)
    moved = _moved(run, live)
    return View(
        id=run.id,
        command=_short(run.command),
        outcome=diagnosis.outcome,
        alive=run.alive,
        at=at,
        began=run.began,
        seconds=max(0.0, at - run.began) if run.alive else run.seconds,
        stuck=_stuck(run, moved, at),
        phase=_phase(run, live, moved, at),
        findings=_findings(diagnosis),
        end="" if run.alive else what_happened(diagnosis),
        **_progress(run, began, steps, at, at - moved > QUIET),
        **_step_times(steps),
        **_waits(run, live, at),
        **_losses(began, steps),
        **_memory(run, at),
        **_machine(run, at),
    )


def number(value: Any) -> float | None:
    """A finite number, None for anything else: the record may be a stranger's."""
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if plain and -1e300 < value < 1e300 else None


def _last_time(run: Run) -> float:
    return max([run.events[-1].time, *(float(sample["t"]) for sample in run.samples[-1:])])


def _short(command: Sequence[str]) -> str:
    """The program by its last name: which Python it was is rarely the question."""
    return " ".join([Path(command[0]).name, *command[1:]]) if command else ""


def _steps_of(run: Run, fit: Fit | None, live: Live) -> list[Step]:
    """The newest steps of the last fit, or of the loop where there is no fit."""
    steps = list(run.steps[-RECENT * 128 :])
    if live.step is not None and (not steps or live.step.number > steps[-1].number):
        steps.append(live.step)
    return [step for step in steps if step.fit == (fit.id & 0xFFFF if fit else 0)]


def _moved(run: Run, live: Live) -> float:
    """When the last sign of life came from inside, 0.0 where nothing is known."""
    times = [step.time for step in (run.steps[-1:] if live.step is None else [live.step])]
    mark = live.now or run.now
    times += [mark.time] if mark else []
    return max([*times, _last_change(run, live)])


def _last_change(run: Run, live: Live) -> float:
    """Since when steps and other signs of life are as many as now; 0.0 where they never were fewer."""
    beats = (sample["inside"] for sample in reversed(run.samples) if isinstance(sample.get("inside"), dict))
    told = itertools.chain([live.beat._asdict()] if live.beat is not None else [], beats)
    now, since = None, 0.0
    for beat in told:
        counted = beat.get("step"), beat.get("pulse")
        if now is not None and counted != now:
            return since
        now, since = counted, number(beat.get("time")) or 0.0
    return 0.0


def _stuck(run: Run, moved: float, at: float) -> float | None:
    """For how long, when the supervisor has said so and nothing has moved since."""
    stall, again = run.last("stall"), run.last("moving-again")
    if not run.alive or stall is None or moved > stall.time or (again is not None and again.time >= stall.time):
        return None
    return max(0.0, at - (moved or stall.time))


def _phase(run: Run, live: Live, moved: float, at: float) -> str:
    error = next((event for event in run.all("exception") if event.get("left") == "program"), None)
    leaving = run.last("exiting") or error
    if leaving is not None:
        told = f"leaving after {str(error.get('type')).rpartition('.')[2]}" if error is not None else "leaving"
        return told + (f" for {words.span(at - leaving.time)}" if at - leaving.time > 1 else "")
    now = live.now or run.now
    if now is None and (run.steps or live.step):
        now = Now("step", 0, 0.0)  # a loop that tells its steps and nothing else
    if now is None:
        blind = run.last("blind")
        inside = "no training seen yet" if run.has("recorder") else "starting"
        return f"laststep can't look inside: {blind.get('because')}" if blind is not None else inside
    told = PHASES.get(now.phase, "the program's own code")
    if now.phase == "between" and all(fit.ended for fit in run.fits):
        told = "after fit, in the program's own code"
    return told + _since(now, live, moved, at)


def _since(now: Now, live: Live, moved: float, at: float) -> str:
    """For how long, and what is unusual about it."""
    beat = live.beat
    if beat is not None and at - beat.time > QUIET:
        return f", no sign of life for {words.span(at - beat.time)}: stopped, or Python's lock is held"
    if beat is not None and beat.waiting > LONG_WAIT:
        return f", waiting for data for {words.span(beat.waiting + max(0.0, at - beat.time))}"
    if now.phase == "step":
        return f", no step for {words.span(at - moved)}" if at - moved > QUIET else ""
    return f" for {words.span(at - now.time)}" if at - now.time > 1 else ""


def _findings(diagnosis: Diagnosis) -> tuple[Told, ...]:
    """Ranked; less those that the first one explains."""
    found = diagnosis.findings
    known = all_rules().get(found[0].rule) if found else None
    echoes = known.outranks if known else ()
    return tuple(
        Told(one.rule, one.confidence.name, one.cause, words.place(one.where, diagnosis.run.cwd))
        for one in found
        if one.rule not in echoes
    )


def _progress(run: Run, fit: Fit | None, steps: Sequence[Step], at: float, quiet: bool) -> dict[str, Any]:
    last = steps[-1] if steps else None
    told: dict[str, Any] = {"step": run.steps[-1].number if run.steps else None}
    if last is not None:
        told["step"] = max(last.number, told["step"] or 0)
    if fit is None:
        return told
    asked = number(fit.began.get("steps")) or number(fit.epochs[-1].get("batches") if fit.epochs else None)
    epoch = last.epoch if last is not None else fit.began.initial_epoch
    batch = last.batch + 1 if last is not None else 0
    told |= {"epoch": epoch + 1, "epochs": fit.asked, "batches": int(asked) if asked else None}
    told["batch"] = min(batch, int(asked)) if asked else batch
    if len(run.fits) > 1:
        told["fit"] = f"fit {len(run.fits)}"
    if fit.asked and asked:
        of_all = (fit.asked - fit.began.initial_epoch) * asked
        told["done"] = (
            min(1.0, ((epoch - fit.began.initial_epoch) * asked + told["batch"]) / of_all) if of_all > 0 else None
        )
        goes_on = run.alive and fit.ended is None and not quiet
        told["left"] = _left(fit, steps, asked, at) if goes_on else None
        told["left_at_least"] = not fit.epochs  # what a validation takes is not known yet
    return told


def _left(fit: Fit, steps: Sequence[Step], asked: float, at: float) -> float | None:
    """By the last epochs, validation and all; in the first one by the pace of its steps."""
    took = [number(event.get("seconds")) for event in fit.epochs[-3:]]
    known = [seconds for seconds in took if seconds is not None]
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
    """Seconds per batch, also where several batches are one call. The first steps hold the tracing."""
    recent = [step for step in steps[-200:] if step.epoch == steps[-1].epoch]
    recent = recent[2:] if len(recent) > 4 else recent
    if len(recent) < 3 or recent[-1].number <= recent[0].number:
        return None
    return max(0.0, recent[-1].time - recent[0].time) / (recent[-1].number - recent[0].number)


def _step_times(steps: Sequence[Step]) -> dict[str, Any]:
    took = [step.duration for step in steps[-RECENT:] if number(step.duration) is not None]
    if len(took) < 3:
        return {}
    told = {"step_now": statistics.median(took[-LATEST:]), "step_usual": statistics.median(took)}
    return told | {"step_curve": tuple(took)}


def _waits(run: Run, live: Live, at: float) -> dict[str, Any]:
    """The share of the last seconds that went into waiting for data; unknown where no wait was ever measured."""
    points = [_point(sample.get("inside")) for sample in run.samples[-RECENT:]]
    points += [(live.beat.time, live.beat.waited + live.beat.waiting)] if live.beat else []
    known = [point for point in points if point is not None]
    recent = [point for point in known if point[0] >= at - WAIT_SECONDS]
    if len(recent) < 2 or recent[-1][1] <= 0 or recent[-1][0] - recent[0][0] < 3:
        return {}
    spaced = known[::5]
    curve = [_share(*pair) for pair in itertools.pairwise(spaced) if pair[1][0] > pair[0][0]]
    share, seconds = _share(recent[0], recent[-1]), recent[-1][0] - recent[0][0]
    return {"wait_share": share, "wait_seconds": seconds, "wait_curve": tuple(curve)}


def _share(before: tuple[float, float], after: tuple[float, float]) -> float:
    return min(1.0, max(0.0, (after[1] - before[1]) / (after[0] - before[0])))


def _point(inside: Any) -> tuple[float, float] | None:
    """(when, seconds waited until then)"""
    if not isinstance(inside, dict):
        return None
    at, waited, waiting = (number(inside.get(name)) for name in ("time", "waited", "waiting"))
    return None if at is None or waited is None else (at, waited + (waiting or 0.0))


def _losses(fit: Fit | None, steps: Sequence[Step]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    epochs = fit.epochs if fit else ()
    metrics = epochs[-1].get("metrics") if epochs else None
    if isinstance(metrics, dict):
        told["metrics"] = tuple((str(name), words.value(value)) for name, value in metrics.items())
        told["metrics_epoch"] = int(epochs[-1].get("epoch", 0)) + 1
    known = [step for step in steps[:: max(1, len(steps) // MOST_POINTS)] if number(step.loss) is not None]
    if not known:
        by_epoch = [_table(event.get("metrics")).get("loss") for event in epochs]
        curve = tuple(value for value in map(number, by_epoch) if value is not None)
        return told | ({"loss": f"{words.value(curve[-1])} (epoch)", "loss_curve": curve} if curve else {})
    last = next(step for step in reversed(steps) if number(step.loss) is not None)
    told["loss_curve"] = tuple(step.loss for step in known)
    told["loss"] = words.value(last.loss)
    if math.isinf(steps[-1].loss):
        told["loss"] = f"infinite; before that {words.value(last.loss)}"
    elif steps[-1].number - last.number > 64:  # of a loop of its own only every eighth is read
        told["loss"] = f"not a number since step {last.number + 1:,}; before that {words.value(last.loss)}"
    return told


def _memory(run: Run, at: float) -> dict[str, Any]:
    alive = (one for one in reversed(run.samples[-60:]) if number(one.get("rss")))
    sample: Mapping[str, Any] = next(alive, {})
    told: dict[str, Any] = {"memory": number(sample.get("rss")), "forecast": _forecast(run)}
    told["measured_ago"] = max(0.0, at - sample["t"]) if sample else 0.0
    group, host = _table(sample.get("group")), _table(sample.get("host"))
    if number(group.get("limit")):
        told |= {"taken": number(group.get("used")), "limit": number(group.get("limit")), "limit_of": "limit"}
    elif number(host.get("total")) and number(host.get("available")) is not None:
        told |= {"taken": host["total"] - host["available"], "limit": host["total"]}
    return told | _growth(run)


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _forecast(run: Run) -> str:
    event = run.last("forecast")
    told = (event.get("text") or event.get("says")) if event is not None else None
    return told if isinstance(told, str) else ""


def _growth(run: Run) -> dict[str, Any]:
    """How much the program's memory grew since training began, of the last minutes only."""
    begun = run.steps[0].time + 10 if run.steps else math.inf  # the first steps fill what stays
    last = float(run.samples[-1]["t"]) if run.samples else 0.0
    recent = [sample for sample in run.samples[-1500:] if sample["t"] >= max(begun, last - GROWTH_SECONDS)]
    sizes = [(sample["t"], size) for sample in recent if (size := number(sample.get("rss")))]
    if len(sizes) < 20:
        return {}
    seconds = sizes[-1][0] - sizes[0][0]
    return {"growth": _middle(sizes[-5:]) - _middle(sizes[:5]), "growth_seconds": seconds}


def _middle(pairs: Iterable[tuple[float, float]]) -> float:
    return statistics.median(value for _, value in pairs)


def _machine(run: Run, at: float) -> dict[str, Any]:
    samples = [sample for sample in run.samples[-120:] if sample["t"] > at - OLD]
    cpu = [value for sample in samples[-5:] if (value := number(sample.get("cpu"))) is not None]
    cores = next((found for event in run.all("limits") if (found := number(event.get("cores")))), None)
    gpus: Any = next((sample["gpus"] for sample in reversed(samples) if sample.get("gpus")), [])
    return {
        "cpu": statistics.mean(cpu) if cpu else None,
        "cores": cores,
        "gpus": tuple(_gpu(entry) for entry in gpus if isinstance(entry, dict)) if isinstance(gpus, list) else (),
    }


def _gpu(entry: dict[str, Any]) -> Gpu:
    values = (number(entry.get(name)) for name in ("busy", "used", "total", "celsius"))
    return Gpu(int(number(entry.get("gpu")) or 0), *values)
