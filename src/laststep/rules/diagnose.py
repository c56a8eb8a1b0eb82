"""Run → Diagnosis: ask every rule, rank the answers, list what was ruled out and what could not be checked."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import math
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from laststep.analysis.experiments.prove import PROVEN, WITHDRAWN
from laststep.analysis.finding import Confidence, Diagnosis, Evidence, Finding, RuledOut, Unchecked
from laststep.analysis.hang import stall_of
from laststep.record.events.process import RecorderStart
from laststep.record.events.stacks import Attached
from laststep.record.events.supervisor import Blind
from laststep.record.events.training import Epoch
from laststep.record.run import FATAL, DamagedRun, Run
from laststep.rules.ranking import rank
from laststep.rules.rule import SUFFERED, Rule, Vantage, all_rules

NONSENSE = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError)

NO_TIME = "there was no time for it"
UNSEEN_IN_A_LOG = "a log alone does not tell; run it with `laststep run`"
UNSEEN_FROM_OUTSIDE = "laststep was not inside this process; `laststep run` would be"
UNSEEN = "laststep could not look inside the process"


@contextlib.contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """Of a large record it takes a third of the time, and finds none: events hold plain values."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_no_search_for_cycles()
def diagnose(run: Run, rules: Iterable[Rule] | None = None, until: float = math.inf) -> Diagnosis:
    """Ask every rule, or those there is time for. A rule that crashes is a result too, and the others go on."""
    findings: list[Finding] = []
    ruled_out: list[RuledOut] = []
    unchecked: list[Unchecked] = []
    by_name = {rule.name: rule for rule in (all_rules().values() if rules is None else rules)}
    vantage = _vantage(run)
    for rule in by_name.values():
        if time.monotonic() > until:
            unchecked.append(Unchecked(NO_TIME, rule.name))
            continue
        if not vantage.intersection(rule.sees):
            unchecked.append(Unchecked(_why_unseen(run), rule.name))
            continue
        try:
            answer = rule.check(run)
        except Exception as error:
            unchecked.append(Unchecked(f"the rule itself failed ({type(error).__name__}: {error})", rule.name))
            continue
        if isinstance(answer, Finding):
            sure = min(answer.confidence, _most(run))
            findings.append(dataclasses.replace(answer, rule=rule.name, symptom=rule.symptom, confidence=sure))
        elif isinstance(answer, Unchecked):
            unchecked.append(dataclasses.replace(answer, rule=rule.name))
        else:
            ruled_out.append(dataclasses.replace(answer, rule=rule.name))
    findings, withdrawn = _as_proven(run, findings)
    ruled_out += withdrawn
    ranked = rank(findings, by_name)
    hurried = any(item.because == NO_TIME for item in unchecked)
    return Diagnosis(run, tuple(ranked), tuple(ruled_out), tuple(unchecked), outcome(run, ranked), hurried)


def _as_proven(run: Run, findings: list[Finding]) -> tuple[list[Finding], list[RuledOut]]:
    """What `laststep prove` found out about them: proven, or not the cause after all."""
    proofs = {proof.rule: proof for proof in run.proofs}
    kept, withdrawn = [], []
    for finding in findings:
        proof = proofs.get(finding.rule)
        says = f"tried ({proof.says}): {proof.because}" if proof is not None else ""
        if proof is not None and proof.verdict == WITHDRAWN:
            withdrawn.append(RuledOut(says, measured=True, rule=finding.rule))
            continue
        if proof is not None and proof.verdict == PROVEN:
            evidence = (Evidence(says, run.proofs), *finding.evidence)
            finding = dataclasses.replace(finding, confidence=Confidence.PROVEN, evidence=evidence)
        kept.append(finding)
    return kept, withdrawn


@_no_search_for_cycles()
def read_diagnosis(folder: Path, seconds: float = math.inf) -> Diagnosis:
    """Load and diagnose a run folder; one whose record makes no sense is damaged, whoever made it."""
    until = time.monotonic() + seconds
    try:
        return diagnose(Run.load(folder), until=until)
    except NONSENSE as error:
        raise DamagedRun(f"{folder} holds a record that makes no sense ({type(error).__name__}: {error})") from error


def _vantage(run: Run) -> set[Vantage]:
    """From where the run was seen."""
    if run.is_log:
        return {"log"}
    if run.has(Attached):
        return {"attached"}
    return {"outside", "inside"} if run.has(RecorderStart) else {"outside"}


def _most(run: Run) -> Confidence:
    """Who only looked from outside, for some seconds, is never certain."""
    attached = run.last(Attached)
    if attached is None:
        return Confidence.PROVEN
    return Confidence.LIKELY if attached.long_enough else Confidence.POSSIBLE


def _why_unseen(run: Run) -> str:
    if run.is_log:
        return UNSEEN_IN_A_LOG
    if run.has(Attached):
        return UNSEEN_FROM_OUTSIDE
    blind = run.last(Blind)
    return f"laststep could not look inside: {blind.because}" if blind is not None else UNSEEN


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
        if ending.symptom == "crashed" or len(later) < 2:  # the epoch in which it was said ends after it
            return ending.symptom
    over = run.exit_code == 0 or any(fit.complete for fit in run.fits[-1:])
    return "finished" if over else "unknown"
