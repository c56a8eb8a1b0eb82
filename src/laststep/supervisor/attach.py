"""Watch a process that was not started with us, from outside and without stopping it: a Run of what can be seen."""

from __future__ import annotations

import time
from typing import Any

from laststep import text as words
from laststep.analysis.stacks import Look
from laststep.record.run import Run
from laststep.record.sample import decode_sample
from laststep.record.untyped import untyped
from laststep.supervisor import cgroup, host, moves, target
from laststep.supervisor.gpu import Gpus
from laststep.supervisor.moves import Glimpse
from laststep.supervisor.snapshot import take_look
from laststep.supervisor.stacks import MOST_FRAMES, by_spy
from laststep.supervisor.target import CannotAttach
from laststep.supervisor.watch import measure

EVERY = 1.0
LAST_LOOK = 1.5  # seconds that the last, closer look takes
SPY = ("--locals",)
TRIES = 6  # reads for one look
OUTERMOST = ("<module>", "_run_module_as_main")
GPU_BUSY = 5  # per cent
Use = dict[int, tuple[float, float]]  # processor seconds and bytes moved so far, by process


def attach(pid: int, seconds: float) -> Run:
    """Look about once a second; then say what it is, what it does, and whether it does not move."""
    target.check_is_there(pid)
    return Attached(pid, seconds).watch()


class Attached:
    """One process, while it is being watched."""

    def __init__(self, pid: int, seconds: float) -> None:
        self.pid = pid
        self.seconds = seconds
        self._self = target.identity(pid)
        self._gpus = Gpus()
        self._groups = cgroup.memory_groups(pid)
        self._glimpses: list[Glimpse] = []
        self._samples: list[dict[str, Any]] = []
        self._because = ""

    def watch(self) -> Run:
        began, used = time.monotonic(), self._use()
        self._round()
        counted, turns = time.monotonic(), self._turns()
        while (left := began + self.seconds - LAST_LOOK - time.monotonic()) > 0:
            time.sleep(min(EVERY, left))
            self._round()
        if not self._glimpses:
            raise CannotAttach(target.why_not(self.pid, self._because))
        look = self._look_closely()
        now = time.monotonic()
        took, wakes = now - began, (self._turns() - turns) / (now - counted)
        look |= {"seconds": round(took, 1), "watched": True, "wakes": wakes, "still": wakes == 0.0}
        look |= _rates(used, self._use(), took)
        look["phase"] = moves.phase_of(Look(look))
        return self._told(look)

    def _round(self) -> None:
        threads = self._read_stacks()
        if threads:
            self._glimpses.append(Glimpse(time.monotonic(), Look({"threads": threads})))
        self._samples.append(self._sample())

    def _read_stacks(self) -> list[dict[str, Any]]:
        """Of a process that runs on: where it runs fast, a good half of the reads fail or miss the outer frames."""
        before = None
        for _ in range(TRIES):
            threads, self._because = by_spy(self.pid, *SPY)
            self._still_there()
            outermost = outermost_frame(threads)
            if is_whole(threads) or (outermost is not None and outermost == before):
                return threads
            if not threads and not target.can_be_read(self.pid):
                raise CannotAttach(target.why_not(self.pid, self._because))
            before = outermost
        return []

    def _still_there(self) -> None:
        at = words.place(self._glimpses[-1].look.main.place) if self._glimpses else ""
        if target.identity(self.pid) != self._self:
            last = f"; it was at {at} when it was last seen" if at else ""
            raise CannotAttach(
                f"process {self.pid} ended while laststep looked{last}. To be told why it ends: laststep run …"
            )
        if target.state_of(self.pid) == "T":
            raise CannotAttach(target.stopped(self.pid, at))

    def _sample(self) -> dict[str, Any]:
        tree = host.descendants(self.pid)
        sample = measure(self.pid, tree)
        group = cgroup.tightest([cgroup.read_group(folder) for folder in self._groups])
        gpus = self._gpus.read()
        return sample | ({"group": group} if group else {}) | ({"gpus": gpus} if gpus else {})

    def _look_closely(self) -> dict[str, Any]:
        look = take_look(self.pid, host.descendants(self.pid), None, *SPY)
        self._still_there()
        if is_whole(look["threads"]):
            self._glimpses.append(Glimpse(time.monotonic(), Look({"threads": look["threads"]})))
        else:  # its stacks could not be read this once: the ones before are as good
            look["threads"] = self._glimpses[-1].look.data["threads"]
        self._samples.append(self._sample())
        return look

    def _use(self) -> Use:
        return {one: (host.cpu_seconds(one) or 0.0, host.moved_bytes(one)) for one in host.descendants(self.pid)}

    def _turns(self) -> int:
        """How often the main thread was put on a processor so far."""
        return target.switches(self.pid).get(self.pid, 0)

    def _told(self, look: dict[str, Any]) -> Run:
        launch, now = target.launch_of(self.pid), time.time()
        idle = Look(look).idle and not self._gpu_computes(look)
        state = moves.state_of(self._glimpses, idle, look["wakes"])
        told = [
            (target.began(self.pid), "run", launch),
            (now, "limits", self._limits()),
            (now, "attach", {"command": launch["command"], "cwd": launch["cwd"], **self._seen(look, state)}),
        ]
        self._still_there()  # what was read of one that ended meanwhile is worth nothing
        if state in ("stuck", "busy", "waking"):
            told.append((now, "stall" if state == "stuck" else "look", look))
        events = tuple(untyped(when, kind, data, "attach") for when, kind, data in told)
        return Run(f"process {self.pid}", events, samples=list(map(decode_sample, self._samples)), alive=True)

    def _gpu_computes(self, look: dict[str, Any]) -> bool:
        """Where it can't be seen whose work it is (in a container), that of any counts for a process that has one."""
        pids = {self.pid, *(int(child["pid"]) for child in look["children"])}
        gpus = [gpu for sample in self._samples for gpu in sample.get("gpus", [])]
        busy = [gpu for gpu in gpus if float(gpu.get("busy") or 0) >= GPU_BUSY]
        known = [gpu for gpu in busy if any(holder["pid"] in pids for holder in gpu.get("held_by", []))]
        return bool(known) or (bool(busy) and target.holds(self.pid, "/dev/nvidia"))

    def _limits(self) -> dict[str, Any]:
        return {
            "memory": host.memory(),
            "cores": host.cores(),
            "gpus": self._gpus.read(),
            "no_gpus_because": self._gpus.because,
            "groups": [cgroup.describe_group(folder) for folder in self._groups],
        }

    def _seen(self, look: dict[str, Any], state: str) -> dict[str, Any]:
        last = self._glimpses[-1].look
        counters = moves.counters_of(last)
        rate, quiet = moves.pace(self._glimpses), moves.quiet_since(self._glimpses)
        if rate is not None and rate * quiet > moves.OVERDUE:
            rate = None  # it went on when the first looks were taken, and no longer
        else:
            quiet = 0.0
        recorded = target.run_folder_of(self.pid)
        return {
            "pid": self.pid,
            "python": target.python_version(self.pid),
            "tensorflow": target.has_tensorflow(self.pid),
            "recorded": str(recorded) if recorded else None,
            "seconds": look["seconds"],
            "state": state,
            "quiet": round(quiet, 1),
            "long_enough": moves.is_long_enough(Look(look), look["seconds"]),
            "phase": look["phase"],
            "where": dict(last.main.place) if last.main.place else None,
            "counters": {name: value for name, value in counters.items() if name != "of_fit"},
            "steps_per_second": rate,
            "progress": moves.progress(counters, rate),
            "looks": len(self._glimpses),
            "profile": moves.profile(self._glimpses),
            "wakes": round(look["wakes"], 2),
            "cpu": look["cpu"],
            "io": look["io"],
            "busy_threads": look["busy_threads"],
            "native_threads": len(target.switches(self.pid)),
            "holds_interpreter": self._holds_interpreter(),
            "threads": look["threads"],
            "children": look["children"],
            "files": target.files_of(self.pid),
        }

    def _holds_interpreter(self) -> bool:
        """Whether one thread had Python's lock in every look: C code that does not let go of it."""
        holders = [next((t["tid"] for t in g.look.data["threads"] if t.get("holds_gil")), None) for g in self._glimpses]
        return len(holders) >= moves.FEWEST and holders[0] is not None and len(set(holders)) == 1


def _rates(before: Use, after: Use, seconds: float) -> dict[str, float]:
    """Cores and bytes per second of the process and the children that are there now, also those that came meanwhile."""
    cpu = sum(cpu - before.get(pid, (0.0, 0.0))[0] for pid, (cpu, _) in after.items())
    moved = sum(moved - before.get(pid, (0.0, 0.0))[1] for pid, (_, moved) in after.items())
    return {"cpu": round(cpu / seconds, 3), "io": round(moved / seconds)}


def is_whole(threads: list[dict[str, Any]]) -> bool:
    """Whether the main thread's stack goes down to where a program begins, or we cut it ourselves."""
    outermost = outermost_frame(threads)
    return outermost is not None and (outermost["function"] in OUTERMOST or len(_frames(threads)) == MOST_FRAMES)


def outermost_frame(threads: list[dict[str, Any]]) -> dict[str, Any] | None:
    return next(reversed(_frames(threads)), None)


def _frames(threads: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return next((thread["frames"] for thread in threads if thread.get("current")), [])
