"""Diagnosis → the JSON that other programs rely on."""

from __future__ import annotations

import json
import math
from typing import Any

from laststep.analysis.finding import Diagnosis, Finding, Remedy
from laststep.analysis.unseen import unseen_of
from laststep.logs.harmless import harmless_in
from laststep.logs.read import parsed_console
from laststep.record.decode import encode
from laststep.record.events.logs import Log
from laststep.record.events.stacks import Attached
from laststep.record.place import Place


def as_data(diagnosis: Diagnosis) -> dict[str, Any]:
    run = diagnosis.run
    fit = run.fit
    return {
        **_of_log(diagnosis),
        **_of_attach(diagnosis),
        **_unseen(diagnosis),
        **({"too_large": list(run.too_large)} if run.too_large else {}),
        "run": {
            "id": run.id,
            "command": run.command,
            "outcome": diagnosis.outcome,
            "exit": {"code": run.exit_code, "signal": run.signal},
            "steps": run.steps[-1].number if run.steps else 0,
            "epochs": {"reached": fit.reached if fit else None, "asked": fit.asked if fit else None},
            "seconds": round(run.seconds, 3),
        },
        "findings": [_finding(finding) for finding in diagnosis.findings],
        "ruled_out": [{"rule": item.rule, "because": item.because} for item in diagnosis.ruled_out],
        "unchecked": [{"rule": item.rule, "because": item.because} for item in diagnosis.unchecked],
    }


def _of_log(diagnosis: Diagnosis) -> dict[str, Any]:
    log = diagnosis.run.first(Log)
    if log is None:
        return {}
    known = harmless_in(parsed_console(diagnosis.run).lines)
    harmless = [{"words": item.words, "meaning": item.meaning, "times": item.times} for item in known]
    return {"log": encode(log), "harmless": harmless}


def _of_attach(diagnosis: Diagnosis) -> dict[str, Any]:
    attached = diagnosis.run.last(Attached)
    return {} if attached is None else {"attach": {**encode(attached), "samples": encode(diagnosis.run.samples)}}


def _unseen(diagnosis: Diagnosis) -> dict[str, Any]:
    """Only where the training was not looked at."""
    unseen = unseen_of(diagnosis.run)
    if unseen is None:
        return {}
    remedy = _remedy(unseen.remedy) if unseen.remedy is not None else None
    return {"unseen": {"kind": unseen.kind, "because": unseen.because, "remedy": remedy}}


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "symptom": finding.symptom,
        "cause": finding.cause,
        "confidence": finding.confidence.name,
        "follows_from": finding.follows_from,
        "where": _place(finding.where),
        "evidence": [{"says": item.says} for item in finding.evidence],
        "remedies": [_remedy(remedy) for remedy in finding.remedies],
    }


def _remedy(remedy: Remedy) -> dict[str, Any]:
    return {"does": remedy.does, "change": remedy.change, "where": _place(remedy.where), "safe": remedy.safe}


def _place(where: Place | None) -> dict[str, Any] | None:
    return {"file": where.file, "line": where.line} if where else None


def page(diagnosis: Diagnosis) -> str:
    return json.dumps(_finite(as_data(diagnosis)), indent=1)


def _finite(value: Any) -> Any:
    """JSON has no NaN."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value
