"""Killed for using too much memory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from laststep.event import Event
from laststep.finding import Confidence, Evidence, Finding, Remedy
from laststep.reports import words
from laststep.rule import Answer, rule
from laststep.rules._shared import fit_place, killed_with, measured, memory_curve, no, progress
from laststep.run import Run

_VICTIM = re.compile(r"Killed process (\d+) \(([^)]*)\)")
NEAR_THE_LIMIT = 0.9


@rule(outranks=("killed-by-signal", "terminated"))
def host_out_of_memory(run: Run) -> Answer:
    """The kernel (or the container's limit) killed the process because memory ran out.

    What happened
        The process, with its children, used more memory than the machine or its control group (a container,
        a batch job, a systemd unit) may have. The kernel then kills with SIGKILL: no message, no traceback,
        exit status 137.

    How laststep knows
        The kernel counts its kills, for each control group and for the machine: the counters are read before
        the start and after the end. Its log, where it can be read, names the process that it killed. The
        memory in use is sampled all the time. SIGKILL alone is no proof and is not taken for one.

    What to do
        See what the curve does. A steady climb is something that keeps growing (a list of results, a model
        rebuilt in a loop, a cache that is being filled): stop the growth. One big jump is one big thing: an
        array loaded at once, a shuffle buffer, a batch. Use smaller pieces, or give the job more memory.

    Not to be confused with
        killed-by-signal (somebody sent SIGKILL and memory had nothing to do with it), gpu-out-of-memory (an
        error from the device's allocator, not a kill), host-allocation-failed (an error, not a kill).
    """
    victim = _victim(run)
    group = _group_that_killed(run)
    machine = _machine_kills(run)
    if run.broke_off and not run.has("exiting"):
        return _from_what_is_left(run)
    if not killed_with(run, 9, "SIGKILL"):
        return no("the process was not killed") if not run.alive else no("the process is alive")
    if victim is None and (group is None or _log_names_others(run)) and not machine:
        return measured(f"the kernel killed nothing for memory: {_counters(run)}")
    if victim is None and group is None:
        if _log_names_others(run):
            return measured("the kernel's log names another process as the one it killed for memory")
        return _finding(run, None, None, Confidence.LIKELY if _was_near(run) else Confidence.POSSIBLE)
    return _finding(run, victim, group, Confidence.CERTAIN)


def _pids(run: Run) -> set[int]:
    known = [event.get("pid") for event in [*run.all("recorder"), *run.all("end")]]
    after = run.last("aftermath")
    return {int(pid) for pid in [*known, *(after.get("tree", []) if after else [])] if pid}


def _victim(run: Run) -> Event | None:
    for event in reversed(run.all("kernel")):
        found = _VICTIM.search(str(event.get("line", "")))
        if found and int(found[1]) in _pids(run):
            return event
    return None


def _log_names_others(run: Run) -> bool:
    return any(_VICTIM.search(str(event.get("line", ""))) for event in run.all("kernel"))


def _group_that_killed(run: Run) -> Mapping[str, Any] | None:
    """The control group whose kill counter rose, its own numbers from after the end."""
    before: dict[str, Mapping[str, Any]] = {}
    for event in run.all("limits"):
        for group in event.get("groups", []):
            before.setdefault(group["group"], group)
    after = run.last("aftermath")
    for group in after.get("groups", []) if after else []:
        earlier = before.get(group["group"], {})
        if group.get("kills", 0) > earlier.get("kills", 0):
            return {**earlier, **group, "kills_before": earlier.get("kills", 0)}
    return None


def _machine_kills(run: Run) -> int:
    before, after = run.first("limits"), run.last("aftermath")
    if before is None or after is None or before.get("machine_kills") is None:
        return 0
    return int(after.get("machine_kills") or 0) - int(before.get("machine_kills"))


def _counters(run: Run) -> str:
    after = run.last("aftermath")
    groups = after.get("groups", []) if after else []
    counted = [group for group in groups if "kills" in group]
    if counted:
        return f"the kill counters of its {len(counted)} control groups and of the machine did not move"
    return "the machine's kill counter did not move"


def _limit(run: Run, group: Mapping[str, Any] | None) -> float | None:
    if group and group.get("limit"):
        return float(group["limit"])
    for sample in reversed(run.samples):
        if (sample.get("group") or {}).get("limit"):
            return float(sample["group"]["limit"])
    return None


def _was_near(run: Run) -> bool:
    for sample in run.samples[-5:]:
        group, host = sample.get("group") or {}, sample.get("host") or {}
        if group.get("limit") and group.get("used", 0) >= NEAR_THE_LIMIT * group["limit"]:
            return True
        if host.get("total") and host.get("available", host["total"]) <= (1 - NEAR_THE_LIMIT) * host["total"]:
            return True
    return False


def _from_what_is_left(run: Run) -> Answer:
    """The supervisor died too: with a container's limit the whole group may be killed at once."""
    if not _was_near(run):
        return no("the record breaks off, and memory was not near its limit in the last samples")
    return _finding(run, None, None, Confidence.LIKELY)


def _finding(run: Run, victim: Event | None, group: Mapping[str, Any] | None, confidence: Confidence) -> Finding:
    limit = _limit(run, group)
    killer = "The kernel killed the process because "
    what = f"its control group reached its limit of {words.size(limit)}" if limit else "the machine ran out of memory"
    if confidence is not Confidence.CERTAIN:
        killer = "The process was killed, most likely because "
    evidence = list(_evidence(run, victim, group))
    return Finding(
        cause=f"{killer}{what}.",
        confidence=confidence,
        evidence=(*evidence, progress(run)),
        remedies=_remedies(run, limit, group),
        where=fit_place(run),
    )


def _evidence(run: Run, victim: Event | None, group: Mapping[str, Any] | None) -> list[Evidence]:
    found = []
    after = run.last("aftermath")
    if victim is not None:
        line = str(victim.get("line"))
        found.append(Evidence(f"the kernel's log: “{line[:160]}”", (victim,)))
    if group is not None and after is not None:
        told = f"the kill counter of {group['group']} went from {group['kills_before']} to {group['kills']}"
        found.append(Evidence(told, (after,)))
    kills = _machine_kills(run)
    if group is None and victim is None and kills and after is not None:
        told = f"the kernel killed {kills} for memory on this machine during the run"
        found.append(Evidence(told, (after,)))
    curve = memory_curve(run)
    if curve:
        told = f"memory in use: {words.size(curve[0])} at the start, {words.size(max(curve))} at most"
        found.append(Evidence(f"{told}, {words.size(curve[-1])} in the last sample", curve=curve))
    others = _others(run, after)
    if others:
        found.append(Evidence(f"others on this machine: {others}", (after,) if after else ()))
    return found or [Evidence("the process ended by SIGKILL and memory was close to its limit")]


def _others(run: Run, after: Event | None) -> str:
    mine = _pids(run)
    began = run.first("run")
    mine.add(int(began.get("supervisor", 0)) if began else 0)
    large = [p for p in (after.get("largest", []) if after else []) if p["pid"] not in mine and p["rss"] > 200e6]
    return ", ".join(f"{p['name']} ({p['pid']}) with {words.size(p['rss'])}" for p in large)


def _remedies(run: Run, limit: float | None, group: Mapping[str, Any] | None) -> tuple[Remedy, ...]:
    found = []
    fit = run.fit
    batch = (fit.began.get("batch_size") or (fit.began.get("data") or {}).get("batch_size")) if fit else None
    if fit is not None and isinstance(batch, int) and batch > 1:
        found.append(
            Remedy(
                f"Train with smaller batches (it was {batch})",
                f"model.fit(…, batch_size={max(1, batch // 2)})",
                fit.began.get("where"),
            )
        )
    if limit:
        found.append(Remedy(f"Or give the job more than {words.size(limit)}, if the machine has it", safe=True))
    return tuple(found) or (Remedy("Keep less in memory at once: smaller batches, smaller buffers, no growing lists"),)
