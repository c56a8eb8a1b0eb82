"""Whether the kernel killed the process for memory, by its counters and its log; and what used the memory."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from laststep.analysis.finding import Evidence, Remedy
from laststep.analysis.progress import fit_place
from laststep.analysis.signals import killed_with
from laststep.record.events.process import RecorderStart
from laststep.record.events.supervisor import Aftermath, KernelLine, Launch, Limits, ProcessEnd
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.record.sample import MemoryGroup, Sample
from laststep.text import format_size

_VICTIM = re.compile(r"Killed process (\d+) \(([^)]*)\)")
NEAR_LIMIT_SHARE = 0.9  # of the limit
MIN_STEPS_OF_GROWTH = 10
MIN_OTHER_PROCESS_BYTES = 200e6
MIN_STAGE_SHARE = 0.2  # of the limit, for a stage of the pipeline to be named
ASSUMED_LIMIT_BYTES = 1e9  # where there is none
BUFFER_SHARE = 0.1  # of the limit, for a buffer that is suggested


@dataclass(frozen=True)
class MemoryKill:
    """Evidence of a kill for memory. `sure` where the kernel's log names this process or its group's counter rose."""

    sure: bool
    victim: KernelLine | None = None  # the kernel log's line that names the process
    group: MemoryGroup | None = None  # the control group whose kill counter rose, after the end
    group_kills_before: int = 0
    machine_kills: int = 0


def memory_kill(run: Run) -> MemoryKill | None:
    """None where nothing says that the kernel killed this process for memory."""
    if run.vanished and not run.has(Aftermath):
        return MemoryKill(sure=False) if was_near_the_limit(run) else None
    if not was_killed(run):
        return None
    victim, (group, before), kills = _victim(run), _group_that_killed(run), _machine_kills(run)
    if victim is not None or (group is not None and not _log_names_others(run)):
        return MemoryKill(True, victim, group, before, kills)
    if kills and not _log_names_others(run):
        return MemoryKill(False, machine_kills=kills)
    return None


def can_tell(run: Run) -> bool:
    """Whether any of the kernel's kill counters, or its log, could be read."""
    before, after = run.first(Limits), run.last(Aftermath)
    if before is None or after is None:
        return False
    counted = any(group.kills is not None for group in after.groups) or after.machine_kills is not None
    return counted or before.no_kernel_log_because is None


def was_killed(run: Run) -> bool:
    """By SIGKILL; or its end was not observed: the supervisor died too, or another process got the exit status."""
    return killed_with(run, 9, "SIGKILL") or run.vanished


def pids(run: Run) -> set[int]:
    known = [*(event.pid for event in run.all(RecorderStart)), *(event.pid for event in run.all(ProcessEnd))]
    after = run.last(Aftermath)
    return {pid for pid in (*known, *(after.tree if after else ())) if pid}


def _victim(run: Run) -> KernelLine | None:
    mine = pids(run)
    for event in reversed(run.all(KernelLine)):
        found = _VICTIM.search(event.line)
        if found and int(found[1]) in mine:
            return event
    return None


def _log_names_others(run: Run) -> bool:
    return _victim(run) is None and any(_VICTIM.search(event.line) for event in run.all(KernelLine))


def _group_that_killed(run: Run) -> tuple[MemoryGroup | None, int]:
    """The control group whose kill counter rose, as it was after the end; and the counter before."""
    before: dict[str, MemoryGroup] = {}
    for event in run.all(Limits):
        for group in event.groups:
            before.setdefault(group.group, group)
    after = run.last(Aftermath)
    for group in after.groups if after else ():
        earlier = before.get(group.group, MemoryGroup())
        if (group.kills or 0) > (earlier.kills or 0):
            return replace(group, limit=group.limit or earlier.limit), earlier.kills or 0
    return None, 0


def _machine_kills(run: Run) -> int:
    before, after = run.first(Limits), run.last(Aftermath)
    if before is None or after is None or before.machine_kills is None:
        return 0
    return (after.machine_kills or 0) - before.machine_kills


def limit_of(run: Run, group: MemoryGroup | None = None) -> float | None:
    """The control group's limit in bytes; None where there is none."""
    groups = (group, *(sample.group for sample in reversed(run.samples)))
    return next((float(known.limit) for known in groups if known is not None and known.limit), None)


def was_near_the_limit(run: Run) -> bool:
    for sample in run.samples[-5:]:
        group, host = sample.group, sample.host
        if group is not None and group.limit and group.used >= NEAR_LIMIT_SHARE * group.limit:
            return True
        if host.total and host.available is not None and host.available <= (1 - NEAR_LIMIT_SHARE) * host.total:
            return True
    return False


def in_use(sample: Sample) -> float:
    """Bytes in use by the limited control group; where there is none, by the process and its descendants."""
    return float((sample.group.used if sample.group else 0) or sample.rss)


@dataclass(frozen=True)
class Growth:
    """Memory from the first training step to the last sample."""

    first: float  # bytes
    last: float
    steps: int

    @property
    def per_step(self) -> float:
        return (self.last - self.first) / max(1, self.steps)


def growth_while_training(run: Run) -> Growth | None:
    """None with too few steps or samples."""
    if len(run.steps) < MIN_STEPS_OF_GROWTH or not run.samples:
        return None
    later = [sample for sample in run.samples if sample.time >= run.steps[0].time]
    if len(later) < 2:
        return None
    done = [step.number for step in run.steps if later[0].time <= step.time <= later[-1].time]
    if len(done) < MIN_STEPS_OF_GROWTH:
        return None
    # Not the group's memory: that includes file pages, which the kernel drops when memory gets short.
    return Growth(float(later[0].rss), float(later[-1].rss), done[-1] - done[0])


def grew(growth: Growth | None) -> list[Evidence]:
    if growth is None:
        return []
    rise = f"from {format_size(growth.first)} to {format_size(growth.last)}"
    return [Evidence(f"memory grew during training {rise}, about {format_size(growth.per_step)} per step")]


def held_by_stages(run: Run, limit: float | None) -> list[Evidence]:
    return [Evidence(stage.text) for stage in large_stages(run, limit)[:2]]


def others_with_memory(run: Run) -> str:
    after, began = run.last(Aftermath), run.first(Launch)
    mine = pids(run) | {began.supervisor if began else 0}
    large = [
        each for each in (after.largest if after else ()) if each.pid not in mine and each.rss > MIN_OTHER_PROCESS_BYTES
    ]
    return ", ".join(f"{each.name} ({each.pid}) with {format_size(each.rss)}" for each in large)


@dataclass(frozen=True)
class BufferStage:
    """A stage of the tf.data pipeline that holds elements in memory."""

    kind: str
    elements: int | None  # None: all of them
    size: float  # bytes when it is full; 0 where it is not known

    @property
    def text(self) -> str:
        if self.elements is None:
            return "cache() without a file name keeps every element in memory"
        each = format_size(self.size / self.elements)
        return f"the {self.kind} buffer of {self.elements:,} elements, {each} each, holds {format_size(self.size)}"


def large_stages(run: Run, limit: float | None) -> list[BufferStage]:
    """The stages that may hold a good part of the limit, the largest first."""
    found = []
    for stage in run.fit.began.data.stages if run.fit else ():
        elements = stage.buffer_size or 0
        size = float(stage.bytes or 0) * elements
        if size > MIN_STAGE_SHARE * (limit or ASSUMED_LIMIT_BYTES):
            found.append(BufferStage(stage.stage.lower(), elements, size))
        elif stage.stage == "Cache":
            found.append(BufferStage("cache", None, 0.0))
    return sorted(found, key=lambda stage: -stage.size)


def smaller(run: Run, limit: float | None, grows: bool) -> tuple[Remedy, ...]:
    """How to use less memory: stop what grows, smaller buffers or batches; or a higher limit."""
    fit = run.fit.began if run.fit else None
    made = (fit.data.made_at or fit.where) if fit else None
    held = [_smaller_stage(stage, limit, made) for stage in large_stages(run, limit)]
    raised = f"Or raise the memory limit above {format_size(limit)}, if the machine has more" if limit else ""
    more = [Remedy(raised, safe=True)] if raised else []
    if grows and not held:
        return (_stop_growth(run),)
    batch = (fit.batch_size or fit.data.batch_size) if fit else None
    if fit is not None and batch is not None and batch > 1 and not run.steps and not held:
        change = f"batch_size={max(1, batch // 2)}"
        return (Remedy(f"Use smaller batches (batch_size was {batch})", change, fit.where), *more)
    general = Remedy("Hold less in memory at once: load the data in chunks, use smaller buffers and batches")
    return (*(held or [general]), *more)


def _stop_growth(run: Run) -> Remedy:
    own = next((callback for callback in (run.fit.began.callbacks if run.fit else ()) if callback.is_users), None)
    where = f"in the loop or in {own.class_name}" if own else "in the loop"
    does = f"Find what keeps memory in every step: a list, a dict or a history that grows {where}"
    return Remedy(does, None, own.place if own else fit_place(run))


def _smaller_stage(stage: BufferStage, limit: float | None, where: Place | None) -> Remedy:
    if stage.elements is None:
        return Remedy("Cache to a file, or remove cache()", _line_with(where, "cache", '"cache.tmp"'), where)
    fits = max(1, int(stage.elements * BUFFER_SHARE * (limit or stage.size) / stage.size))
    return Remedy(f"Use a smaller {stage.kind} buffer", _line_with(where, stage.kind, str(fits)), where)


def _line_with(where: Place | None, stage: str, argument: str) -> str | None:
    """The line that makes the dataset, with another argument for this stage."""
    text = where.text.partition("  #")[0] if where is not None else ""
    changed = re.sub(rf"\.{stage}\([^()]*\)", f".{stage}({argument})", text, count=1)
    return changed if changed != text else None if text else f"dataset.{stage}({argument})"
