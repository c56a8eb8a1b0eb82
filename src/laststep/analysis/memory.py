"""Whether memory ended the process: the kernel's counters and words, before and after; and how memory grew."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from laststep import text as words
from laststep.analysis.finding import Evidence, Place, Remedy
from laststep.analysis.messages import data_of
from laststep.analysis.progress import fit_place
from laststep.analysis.signals import killed_with
from laststep.record.event import Event
from laststep.record.run import Run

_VICTIM = re.compile(r"Killed process (\d+) \(([^)]*)\)")
NEAR_THE_LIMIT = 0.9


@dataclass(frozen=True)
class MemoryKill:
    """What speaks for a kill for memory. `sure` when the kernel's own words or counters name this process."""

    sure: bool
    victim: Event | None = None  # the kernel log's line that names the process
    group: Mapping[str, Any] | None = None  # the control group whose kill counter rose
    machine_kills: int = 0


def memory_kill(run: Run) -> MemoryKill | None:
    """The evidence that the kernel killed this process for memory; None where nothing says so."""
    if run.vanished and not run.has("aftermath"):
        return MemoryKill(sure=False) if was_near_the_limit(run) else None
    if not was_killed(run):
        return None
    victim, group, kills = _victim(run), _group_that_killed(run), _machine_kills(run)
    if victim is not None or (group is not None and not _log_names_others(run)):
        return MemoryKill(True, victim, group, kills)
    if kills and not _log_names_others(run):
        return MemoryKill(False, None, None, kills)
    return None


def can_tell(run: Run) -> bool:
    """Whether any of the kernel's counters, or its log, could be read."""
    before, after = run.first("limits"), run.last("aftermath")
    if before is None or after is None:
        return False
    counted = any("kills" in group for group in after.get("groups", [])) or after.get("machine_kills") is not None
    return counted or before.get("no_kernel_log_because") is None


def was_killed(run: Run) -> bool:
    """SIGKILL; or gone without a word, where the system tells the exit status to somebody else."""
    return killed_with(run, 9, "SIGKILL") or run.vanished


def pids(run: Run) -> set[int]:
    known = [event.get("pid") for event in [*run.all("recorder"), *run.all("end")]]
    after = run.last("aftermath")
    return {int(pid) for pid in [*known, *(after.get("tree", []) if after else [])] if pid}


def _victim(run: Run) -> Event | None:
    mine = pids(run)
    for event in reversed(run.all("kernel")):
        found = _VICTIM.search(str(event.get("line", "")))
        if found and int(found[1]) in mine:
            return event
    return None


def _log_names_others(run: Run) -> bool:
    return _victim(run) is None and any(_VICTIM.search(str(e.get("line", ""))) for e in run.all("kernel"))


def _group_that_killed(run: Run) -> Mapping[str, Any] | None:
    """The control group whose kill counter rose, with its numbers from after the end."""
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
    return int(after.get("machine_kills") or 0) - int(before.get("machine_kills", 0))


def limit_of(run: Run, group: Mapping[str, Any] | None = None) -> float | None:
    """The control group's limit, where there is one."""
    if group and group.get("limit"):
        return float(group["limit"])
    limits = [(sample.get("group") or {}).get("limit") for sample in run.samples]
    return next((float(limit) for limit in reversed(limits) if limit), None)


def was_near_the_limit(run: Run) -> bool:
    for sample in run.samples[-5:]:
        group, host = sample.get("group") or {}, sample.get("host") or {}
        if group.get("limit") and group.get("used", 0) >= NEAR_THE_LIMIT * group["limit"]:
            return True
        if host.get("total") and host.get("available", host["total"]) <= (1 - NEAR_THE_LIMIT) * host["total"]:
            return True
    return False


def in_use(sample: Mapping[str, Any]) -> float:
    """Bytes in use: of the limited group where there is one, otherwise of the process tree."""
    group = sample.get("group") or {}
    return float(group.get("used") or sample.get("rss") or 0)


@dataclass(frozen=True)
class Growth:
    """Memory from the first training step to the last sample."""

    first: float
    last: float
    steps: int

    @property
    def per_step(self) -> float:
        return (self.last - self.first) / max(1, self.steps)


def growth_while_training(run: Run) -> Growth | None:
    """How much memory grew after training had begun; None with too little to say."""
    if len(run.steps) < 10 or not run.samples:
        return None
    later = [sample for sample in run.samples if sample["t"] >= run.steps[0].time]
    if len(later) < 2:
        return None
    done = [step.number for step in run.steps if later[0]["t"] <= step.time <= later[-1]["t"]]
    if len(done) < 10:
        return None
    # The process's own memory: a group's use also holds file pages, which the kernel lets go when it gets tight.
    return Growth(float(later[0].get("rss") or 0), float(later[-1].get("rss") or 0), done[-1] - done[0])


def grew(growth: Growth | None) -> list[Evidence]:
    if growth is None:
        return []
    told = f"it grew while training, from {words.size(growth.first)} to {words.size(growth.last)}"
    return [Evidence(f"{told}: about {words.size(growth.per_step)} with every step")]


def held_by_stages(run: Run, limit: float | None) -> list[Evidence]:
    return [Evidence(stage.told) for stage in large_stages(run, limit)[:2]]


def others_with_memory(run: Run) -> str:
    after, began = run.last("aftermath"), run.first("run")
    mine = pids(run) | {int(began.get("supervisor", 0)) if began else 0}
    large = [p for p in (after.get("largest", []) if after else []) if p["pid"] not in mine and p["rss"] > 200e6]
    return ", ".join(f"{p['name']} ({p['pid']}) with {words.size(p['rss'])}" for p in large)


@dataclass(frozen=True)
class Stage:
    """A stage of the data's pipeline that holds elements in memory."""

    kind: str
    elements: int | None  # None: all of them
    size: float  # in bytes when full; 0 when it cannot be told

    @property
    def told(self) -> str:
        if self.elements is None:
            return "cache() keeps everything that passes it in memory, unless it is given a file"
        each = words.size(self.size / self.elements)
        return f"the {self.kind} buffer of {self.elements:,} elements, {each} each, holds {words.size(self.size)}"


def large_stages(run: Run, limit: float | None) -> list[Stage]:
    """Those that may hold a good part of the limit, the largest first."""
    found = []
    for stage in data_of(run).get("stages") or []:
        elements = stage.get("buffer_size") or 0
        size = float(stage.get("bytes") or 0) * elements
        if size > 0.2 * (limit or 1e9):
            found.append(Stage(str(stage["stage"]).lower(), elements, size))
        elif stage.get("stage") == "Cache":
            found.append(Stage("cache", None, 0.0))
    return sorted(found, key=lambda stage: -stage.size)


def smaller(run: Run, limit: float | None, grows: bool) -> tuple[Remedy, ...]:
    """What to make smaller: what grows, what the pipeline holds, the batch; or a larger limit."""
    fit = run.fit
    made = (data_of(run).get("made_at") or fit.began.get("where")) if fit else None
    held = [_less_of(stage, limit, made) for stage in large_stages(run, limit)]
    more = [Remedy(f"Or give the job more than {words.size(limit)}, if the machine has it", safe=True)] if limit else []
    if grows and not held:
        own = [callback for callback in (fit.began.get("callbacks") or []) if callback.get("users")] if fit else []
        where = own[0] if own else fit_place(run)
        told = "Something keeps memory with every step: look for a list, a dict or a history that grows in the loop"
        return (Remedy(told + (f" or in {own[0]['class']}" if own else ""), None, where),)
    batch = (fit.began.get("batch_size") or data_of(run).get("batch_size")) if fit else None
    if fit is not None and isinstance(batch, int) and batch > 1 and not run.steps and not held:
        change = f"model.fit(…, batch_size={max(1, batch // 2)})"
        return (Remedy(f"Train with smaller batches (it was {batch})", change, fit.began.get("where")), *more)
    general = Remedy("Hold less in memory at once: load the data in pieces, smaller buffers, smaller batches")
    return (*(held or [general]), *more)


def _less_of(stage: Stage, limit: float | None, where: Place | None) -> Remedy:
    if stage.elements is None:
        return Remedy("Cache into a file, or leave cache() out", 'dataset.cache("cache.tmp")', where)
    fits = max(1, int(stage.elements * 0.1 * (limit or stage.size) / stage.size))
    return Remedy(f"Let the {stage.kind} buffer hold fewer elements", f"dataset.{stage.kind}({fits})", where)
