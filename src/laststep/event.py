"""Event: one fact, when it happened; the closed list of kinds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

KINDS: Mapping[str, str] = MappingProxyType(
    {
        # from outside, by the supervisor
        "run": "the launch: command, folder, host, versions of laststep and Python",
        "limits": "memory limits, counters of kills, cores, swap and disks when the run began",
        "signal": "a signal that reached the supervisor, who sent it, whether it was passed on",
        "end": "the process ended: exit code or signal",
        "aftermath": "the same counters as in `limits`, read again after the end",
        "kernel": "a line of the kernel's log about this process (out of memory, segfault)",
        "fault": "Python's stack at the moment of a fatal signal",
        "blind": "laststep could not look inside the process, and why",
        "verdict": "what a batch system, a container engine or the kernel says about the end: by whom, why",
        "look": "the supervisor looked at a run that did not move: stacks, what each process does, what was used",
        "stall": "that look again, when it had lasted longer than is normal for this phase: the run is stuck",
        "feeding": "where the input pipeline's Python stood while steps waited for data, in a few looks",
        "pace": "how often each rank on this machine was at work, and not waiting in the step, in a few looks",
        "moving-again": "a run that was stuck goes on, and after how long",
        "attach": "a process that we did not start was watched from outside: what it is, what it does, what it uses",
        "forecast": "when memory runs out if it goes on like this: how sure, and at which step",
        # from a bare log
        "log": "nothing is there but what was printed: the file, its size, how many runs it holds",
        "progress": "a bar or a counter on the console, and whether it had moved on",
        # from inside, by the recorder
        "recorder": "the recorder started in this process",
        "probe": "a probe was installed, or stands aside and says why",
        "versions": "the libraries in use",
        "build": "what TensorFlow was built for: compute capabilities, CUDA and cuDNN",
        "fit": "a fit (or evaluate, predict) began, and what was asked of it",
        "model": "the model's figures, once it is built",
        "dataset": "a dataset that a hand-written loop goes through: its stages, and where",
        "setup": "how training is set up: TensorFlow's threads and devices, the ranks it is part of",
        "epoch": "an epoch ended, with its metrics",
        "validation": "a validation or an evaluate with a number of steps ended: batches asked for and delivered",
        "fit-end": "a fit came to its own end",
        "loop": "a hand-written training loop was seen, and where its step is",
        "trace": "TensorFlow traced a function: whose, how long it took, which argument differs, how many graphs live",
        "gradients": "gradients are taken here: by which variables, of which losses, in which model",
        "numbers": "a look at a step's numbers: loss, norms of gradients and weights by layer, units without gradient",
        "batch": "statistics of the inputs, targets and predictions of the steps looked at so far",
        "bad-number": "a number that is not finite: in which step, in the inputs, the loss or whose gradients",
        "stale": "a Python number that a traced step read was changed since: its name, the line, before and now",
        "applied": "an optimizer updates these variables, in a loop of the program's own",
        "dependence": "whether targets depend on inputs, by a permutation test on the sample that was seen",
        "census": "what the program's own names hold and how much of it: containers, tensors, graphs, models",
        "saved": "the model was saved before its end, and where",
        "stop": "somebody set stop_training: who, where, with which values",
        "profile": "TensorFlow's profiler began, or ended: the steps that it saw, the layers, the reason",
        "exception": "an exception left fit, a thread or the program",
        "warning": "a Python warning that was shown",
        "exit-call": "the program asked to leave: sys.exit, os._exit",
        "signal-sent": "the program sent a signal to itself",
        "exiting": "the interpreter reached its normal end",
        "replayed": "the bad step run again: the operation that made the first bad number, or why it could not be",
        "side-run": "in a side run of `laststep probe` or `prove`: it began, it is not supported and why, it ended",
        "change": "a change of the input pipeline that the side run tries, or does not try and why",
        "turn": "steps and seconds of training on one pipeline, in one round of a side run",
        "trained": "one training in a side run of `laststep prove`, with or without the change: its losses",
        "proof": "what `laststep prove` found about a finding: the change that was tried, the trainings, the verdict",
        "recording-stopped": "recording ended early, and why; training went on",
    }
)


@dataclass(frozen=True, slots=True)
class Event:
    """One fact. Nothing is concluded here."""

    time: float
    kind: str
    data: Mapping[str, Any]
    source: str = ""
    rank: int = 0

    def get(self, name: str, default: Any = None) -> Any:
        return self.data.get(name, default)
