"""The facts around an end: limits and counters before, the same after, the kernel's log, the last stack."""

from __future__ import annotations

import os
from pathlib import Path

from laststep.record.console import read_console
from laststep.record.decode import encode
from laststep.record.events.supervisor import Aftermath, Fault, KernelLine, Limits
from laststep.record.folder import CONSOLE, FAULTS
from laststep.record.journal import JournalWriter, trim
from laststep.record.steps import compact
from laststep.supervisor import cgroup, host
from laststep.supervisor.gpu import Gpus
from laststep.supervisor.kernel_log import KernelLog
from laststep.supervisor.stacks import parse_threads

MAX_FAULT_BYTES = 65536
FAULT_SIGNALS = {
    "Segmentation fault": "SIGSEGV",
    "Aborted": "SIGABRT",
    "Illegal instruction": "SIGILL",
    "Bus error": "SIGBUS",
    "Floating point exception": "SIGFPE",
}


class Autopsy:
    """Records limits before the launch, and the same counters after the end."""

    def __init__(self, journal: JournalWriter, folder: Path, gpus: Gpus, kernel: KernelLog) -> None:
        self._journal = journal
        self._folder = folder
        self._gpus = gpus
        self._kernel = kernel
        self._groups: list[Path] = []

    def before(self, folders: list[Path]) -> None:
        self._journal.write(
            Limits.KIND,
            {
                "machine_kills": host.kills_on_this_machine(),
                "memory": host.memory(),
                "cores": host.cores(),
                "processor": host.processor(),
                "disks": [entry for entry in map(host.disk, folders) if entry],
                "gpus": self._gpus.describe(),
                "no_gpus_because": self._gpus.because,
                "no_kernel_log_because": self._kernel.because,
                "job_ends": _end_of_job(),
            },
        )
        self.note_groups(cgroup.memory_groups(os.getpid()))

    def note_groups(self, groups: list[Path]) -> None:
        """The counters of the groups that the process is in, when it first is there."""
        fresh = [folder for folder in groups if folder not in self._groups]
        if fresh:
            self._groups += fresh
            self._journal.write(Limits.KIND, {"groups": [cgroup.describe_group(folder) for folder in fresh]})

    def after(self, tree: list[int], folders: list[str]) -> None:
        """The process is gone: its groups are read from the folders where they were."""
        self._journal.write(
            Aftermath.KIND,
            {
                "groups": [cgroup.describe_group(folder) for folder in self._groups if folder.exists()],
                "machine_kills": host.kills_on_this_machine(),
                "memory": host.memory(),
                "largest": host.largest_processes(),
                "disks": [entry for entry in map(host.disk, folders) if entry],
                "tree": tree,
            },
        )
        for line in self._kernel.new_lines():
            self._journal.write(KernelLine.KIND, {"line": line})
        self._fault()

    def _fault(self) -> None:
        # The program may have pointed faulthandler at its own stderr: then the console has it.
        text = read_fault(self._folder) or read_console(self._folder / CONSOLE).decode("utf-8", "replace")
        _, head, rest = text.rpartition("Fatal Python error: ")
        if head:
            self._journal.write(Fault.KIND, encode(parse_fault(head + rest)))


def _end_of_job() -> float | None:
    """When the batch system will end the job: SLURM says so in the environment."""
    ends = os.environ.get("SLURM_JOB_END_TIME", "")
    return float(ends) if ends.isdigit() else None


def tidy(folder: Path) -> None:
    """After the end: free the disk space that was reserved and not used."""
    for steps in folder.glob("steps.*"):
        compact(steps)
    for journal in folder.glob("recorder.*.jsonl"):
        trim(journal)


def signal_of_fault(folder: Path) -> str | None:
    """The fatal signal that faulthandler reported, for a process whose exit status only its parent gets."""
    text = read_fault(folder)
    return next((name for words, name in FAULT_SIGNALS.items() if f"Fatal Python error: {words}" in text), None)


def read_fault(folder: Path) -> str:
    try:
        return (folder / FAULTS).read_bytes()[:MAX_FAULT_BYTES].decode("utf-8", "replace")
    except OSError:
        return ""


def parse_fault(text: str) -> Fault:
    """faulthandler's report: what happened, and the stack of each thread, innermost frame first."""
    head = next((line for line in text.splitlines() if line.startswith("Fatal Python error:")), "")
    return Fault(head=head.removeprefix("Fatal Python error: "), threads=parse_threads(text))
