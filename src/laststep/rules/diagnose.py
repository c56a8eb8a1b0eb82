"""Run → Diagnosis: check every rule, rank the answers, list what was ruled out and what could not be checked."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import math
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from laststep.analysis.experiments.prove import PROVEN, WITHDRAWN
from laststep.analysis.finding import Answer, Confidence, Diagnosis, Evidence, Finding, RuledOut, Unchecked
from laststep.analysis.hang import stall_of
from laststep.analysis.unseen import Unseen, unseen_of
from laststep.logs.read import run_from_console
from laststep.record.events.process import RecorderStart
from laststep.record.events.stacks import Attached
from laststep.record.events.training import Epoch
from laststep.record.run import FATAL, DamagedRun, Run
from laststep.rules.kept_console import better, has_kept_console
from laststep.rules.ranking import rank
from laststep.rules.rule import SUFFERED, Rule, Vantage, all_rules

INCONSISTENT = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError)

NO_TIME = "the time limit was reached before it was checked"
UNSEEN_IN_A_LOG = "a log does not contain what this rule needs; record the run with `laststep run`"
UNSEEN_FROM_OUTSIDE = "this rule needs a record from inside the process; start it with `laststep run`"
UNSEEN = "laststep could not look inside the process"


@contextlib.contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """On a large record, Python's search would take a third of the time and find none: events hold plain values."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_no_search_for_cycles()
def diagnose(run: Run, rules: Iterable[Rule] | None = None, until: float = math.inf) -> Diagnosis:
    """Check every rule, or those there is time for. A rule that raises is reported, and the others are checked."""
    by_name = {rule.name: rule for rule in (all_rules().values() if rules is None else rules)}
    unseen = unseen_of(run)
    answers = {name: _check(rule, run, until) for name, rule in by_name.items()}
    if unseen is not None:
        answers = _as_unseen(answers, by_name, run, unseen, until)
    findings: list[Finding] = []
    ruled_out: list[RuledOut] = []
    unchecked: list[Unchecked] = []
    for name, answer in answers.items():
        if isinstance(answer, Finding):
            sure = min(answer.confidence, _max_confidence(run))
            symptom = by_name[name].symptom
            findings.append(dataclasses.replace(answer, rule=name, symptom=symptom, confidence=sure))
        elif isinstance(answer, Unchecked):
            unchecked.append(dataclasses.replace(answer, rule=name))
        else:
            ruled_out.append(dataclasses.replace(answer, rule=name))
    findings, withdrawn = _as_proven(run, findings)
    ruled_out += withdrawn
    ranked = rank(findings, by_name)
    timed_out = any(item.because == NO_TIME for item in unchecked)
    ended = outcome(run, ranked)
    return Diagnosis(run, tuple(ranked), tuple(ruled_out), tuple(unchecked), ended, timed_out)


def _check(rule: Rule, run: Run, until: float) -> Answer:
    if time.monotonic() > until:
        return Unchecked(NO_TIME)
    if not _vantage(run).intersection(rule.sees):
        return Unchecked(_why_unseen(run))
    try:
        return rule.check(run)
    except Exception as error:
        return Unchecked(f"the rule itself failed ({type(error).__name__}: {error})")


def _as_unseen(
    answers: Mapping[str, Answer], rules: Mapping[str, Rule], run: Run, unseen: Unseen, until: float
) -> dict[str, Answer]:
    """What the console says instead of the record; and a rule that judges from inside alone denies nothing."""
    found = dict(answers)
    if has_kept_console(run, unseen):
        console = run_from_console(run)
        for name, own in answers.items():
            found[name] = better(rules[name], own, _check(rules[name], console, until), run, unseen)
    for name, answer in found.items():
        if isinstance(answer, RuledOut) and not answer.measured and set(rules[name].sees) <= {"inside", "attached"}:
            found[name] = Unchecked(unseen.because)
    return found


def _as_proven(run: Run, findings: list[Finding]) -> tuple[list[Finding], list[RuledOut]]:
    """What `laststep prove` found out about them: proven, or not the cause after all."""
    results = {result.rule: result for result in run.prove_results}
    kept, withdrawn = [], []
    for finding in findings:
        result = results.get(finding.rule)
        says = f"tried ({result.says}): {result.because}" if result is not None else ""
        if result is not None and result.verdict == WITHDRAWN:
            withdrawn.append(RuledOut(says, measured=True, rule=finding.rule))
            continue
        if result is not None and result.verdict == PROVEN:
            evidence = (Evidence(says, run.prove_results), *finding.evidence)
            finding = dataclasses.replace(finding, confidence=Confidence.PROVEN, evidence=evidence)
        kept.append(finding)
    return kept, withdrawn


@_no_search_for_cycles()
def read_diagnosis(folder: Path, seconds: float = math.inf) -> Diagnosis:
    """Load and diagnose a run folder; one with an inconsistent record is reported as damaged."""
    until = time.monotonic() + seconds
    try:
        return diagnose(Run.load(folder), until=until)
    except INCONSISTENT as error:
        raise DamagedRun(f"{folder} holds an inconsistent record ({type(error).__name__}: {error})") from error


def _vantage(run: Run) -> set[Vantage]:
    """From where the run was seen."""
    if run.is_log:
        return {"log"}
    if run.has(Attached):
        return {"attached"}
    return {"outside", "inside"} if run.has(RecorderStart) else {"outside"}


def _max_confidence(run: Run) -> Confidence:
    """A process that was only watched from outside, for some seconds, gives no certainty."""
    attached = run.last(Attached)
    if attached is None:
        return Confidence.PROVEN
    return Confidence.LIKELY if attached.long_enough else Confidence.POSSIBLE


def _why_unseen(run: Run) -> str:
    if run.is_log:
        return UNSEEN_IN_A_LOG
    if run.has(Attached):
        return UNSEEN_FROM_OUTSIDE
    unseen = unseen_of(run)
    return f"{UNSEEN}: {unseen.because}" if unseen is not None else UNSEEN


def outcome(run: Run, findings: list[Finding]) -> str:
    """finished, stopped, crashed or running, from how the process ended; unknown when a log does not say."""
    if run.alive:
        known = run.has(Attached) or any(f.symptom == "stalled" for f in findings)
        return "stalled" if known and stall_of(run) is not None else "running"
    ending = next((finding for finding in findings if finding.symptom not in SUFFERED), None)
    symptom = ending.symptom if ending is not None else ""
    if run.signal in FATAL:
        return "crashed"
    if run.signal is not None or run.vanished:
        return "crashed" if symptom == "crashed" else "stopped"
    if run.uncaught is not None:
        return "stopped" if "KeyboardInterrupt" in run.uncaught.bases else "crashed"
    if run.exit_code:
        return "crashed" if symptom == "crashed" else "stopped"
    if run.is_log:
        return _outcome_of_log(run, ending)
    short = any(not fit.complete for fit in run.fits[-1:]) if run.fits else symptom == "stopped"
    return "stopped" if short else "finished"


def _outcome_of_log(run: Run, ending: Finding | None) -> str:
    if ending is not None and ending.symptom in ("stopped", "crashed"):
        shown = [event.time for event in ending.evidence[0].events]
        later = [epoch for epoch in run.all(Epoch) if epoch.time > max(shown, default=0.0)]
        if ending.symptom == "crashed" or len(later) < 2:  # the epoch in which it was printed ends after it
            return ending.symptom
    over = run.exit_code == 0 or any(fit.complete for fit in run.fits[-1:])
    return "finished" if over else "unknown"
