"""The machine and a process tree, read from /proc (through psutil on systems without it)."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

Value = TypeVar("Value")

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")  # per second
HAS_PROC = os.path.isdir("/proc/self")


def memory() -> dict[str, int]:
    """In bytes: total, available, total swap and free swap."""
    wanted = {"MemTotal": "total", "MemAvailable": "available", "SwapTotal": "swap_total", "SwapFree": "swap_free"}
    found: dict[str, int] = {}
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                name, _, value = line.partition(":")
                if name in wanted:
                    found[wanted[name]] = int(value.split()[0]) * 1024
    except OSError:
        import psutil

        virtual, swap = psutil.virtual_memory(), psutil.swap_memory()
        found = {
            "total": virtual.total,
            "available": virtual.available,
            "swap_total": swap.total,
            "swap_free": swap.free,
        }
    return found


def kills_on_this_machine() -> int | None:
    """How many processes the kernel has killed for lack of memory since boot, anywhere on this machine."""
    try:
        for line in Path("/proc/vmstat").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    except (OSError, ValueError):
        pass
    return None


def pressure() -> dict[str, float]:
    """Pressure stall information: per cent of the last ten seconds in which some task waited."""
    found = {}
    for name in ("memory", "io", "cpu"):
        try:
            first = Path(f"/proc/pressure/{name}").read_text().splitlines()[0]
            found[name] = float(first.split("avg10=")[1].split()[0])
        except (OSError, IndexError, ValueError):
            continue
    return found


def resident(pid: int) -> int | None:
    if not HAS_PROC:
        return _by_psutil(pid, lambda process: int(process.memory_info().rss))
    try:
        with open(f"/proc/{pid}/statm", "rb") as statm:
            return int(statm.read().split()[1]) * PAGE_BYTES
    except (OSError, IndexError):
        return None


def _by_psutil(pid: int, read: Callable[[Any], Value]) -> Value | None:
    """On systems without /proc (macOS)."""
    import psutil

    try:
        return read(psutil.Process(pid))
    except psutil.Error:
        return None


def proportional(pid: int) -> int | None:
    """The proportional set size: shared pages are counted in parts. Expensive to read, so use it rarely."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as rollup:
            for line in rollup:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def cpu_seconds(pid: int) -> float | None:
    if not HAS_PROC:
        return _by_psutil(pid, lambda process: float(sum(process.cpu_times()[:2])))
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            fields = stat.read().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS
    except (OSError, IndexError):
        return None


def status(pid: int, name: str, task: int | None = None) -> str:
    """A field of the kernel's status of a process, or of one of its threads; "" if there is none."""
    try:
        lines = Path(f"/proc/{pid}/task/{task}/status" if task else f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(f"{name}:")), "")


def moved_bytes(pid: int) -> float:
    """Bytes that the process has read and written through system calls, in files and pipes alike."""
    try:
        with open(f"/proc/{pid}/io", "rb") as lines:
            return float(sum(int(line.split()[1]) for line in lines if line.startswith((b"rchar", b"wchar"))))
    except (OSError, ValueError, IndexError):
        return 0.0


def major_faults(pid: int) -> int | None:
    """Pages that had to be read from disk because they were not in memory, so far."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return int(stat.read().rpartition(b")")[2].split()[9])
    except (OSError, IndexError):
        return None


def queues(pid: int) -> dict[int, tuple[float, float]]:
    """For each live thread: (seconds it ran, seconds it was ready to run but waited for a core)."""
    found = {}
    for task in _tasks(pid)[:512]:
        try:
            with open(f"/proc/{pid}/task/{task}/schedstat", "rb") as counters:
                values = counters.read().split()
            found[int(task)] = int(values[0]) / 1e9, int(values[1]) / 1e9
        except (OSError, IndexError, ValueError):
            continue
    return found


def _tasks(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []


def queueing(pid: int) -> list[float] | None:
    """[seconds its live threads ran, seconds they were ready to run but waited for a core]."""
    times = queues(pid).values()
    return [round(sum(thread[at] for thread in times), 3) for at in (0, 1)] if times else None


def allowed_cores(pid: int) -> set[int]:
    """The numbers of the cores on which the process may run."""
    try:
        return set(os.sched_getaffinity(pid))
    except (AttributeError, OSError):
        return set(range(os.cpu_count() or 1))


def busy_seconds(cpus: set[int]) -> float | None:
    """CPU seconds that these cores have worked for any process, or that a hypervisor took from them (steal)."""
    try:
        with open("/proc/stat", encoding="ascii") as lines:
            rows = [line.split() for line in lines if line.startswith("cpu")]
        # user nice system (idle iowait) irq softirq steal
        allowed_rows = [row for row in rows if row[0][3:].isdigit() and int(row[0][3:]) in cpus]
        busy = [sum(int(value) for value in (*row[1:4], *row[6:9])) for row in allowed_rows]
    except (OSError, ValueError):
        return None
    return sum(busy) / TICKS if busy else None


def family_seconds(pid: int) -> float:
    """CPU seconds of a process and of its children that have ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return sum(int(value) for value in stat.read().rpartition(b")")[2].split()[11:15]) / TICKS
    except (OSError, ValueError):
        return 0.0


def cpu_of_all(cpus: set[int], max_processes: int) -> dict[int, float]:
    """CPU seconds of every visible process that last ran on one of these cores."""
    found = {}
    for name in [name for name in os.listdir("/proc") if name.isdigit()][:max_processes] if HAS_PROC else ():
        try:
            with open(f"/proc/{name}/stat", "rb") as stat:
                fields = stat.read().rpartition(b")")[2].split()
            if int(fields[36]) in cpus:
                found[int(name)] = (int(fields[11]) + int(fields[12])) / TICKS
        except (OSError, IndexError, ValueError):
            continue
    return found


def printable_name(pid: int) -> str:
    """Its name without control characters, which could move a terminal's cursor: a process may use any name."""
    return "".join(sign if sign.isprintable() else "?" for sign in who(pid))[:32]


def listener(port: int) -> int | None:
    """The process on this machine that listens on a TCP port."""
    import psutil

    try:
        found = psutil.net_connections("tcp")
    except (psutil.Error, OSError):
        return None
    listening = (one for one in found if one.status == psutil.CONN_LISTEN and one.laddr and one.laddr.port == port)
    return next((one.pid for one in listening if one.pid), None)


def cpu_limit(pid: int) -> float | None:
    """CPU seconds after which the kernel kills the process, if there is such a limit."""
    try:
        with open(f"/proc/{pid}/limits", "rb") as limits:
            hard = next((line.split()[4] for line in limits if line.startswith(b"Max cpu time")), b"unlimited")
    except (OSError, IndexError):
        return None
    return float(hard) if hard.isdigit() else None


def open_files(pid: int) -> int | None:
    if not HAS_PROC:
        return _by_psutil(pid, lambda process: int(process.num_fds()))
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return None


def threads(pid: int) -> int | None:
    if not HAS_PROC:
        return _by_psutil(pid, lambda process: int(process.num_threads()))
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return None


def files_by_kind(pid: int, max_entries: int = 5) -> list[dict[str, Any]]:
    """The open files in groups: /data/part-17.bin belongs to /data/part-#.bin."""
    base, found = f"/proc/{pid}/fd", Counter[str]()
    try:
        names = os.listdir(base)
    except OSError:
        return []
    for name in names:
        try:
            target = os.readlink(f"{base}/{name}")
        except OSError:
            continue
        folder, slash, file = target.rpartition("/")
        found[(folder + slash if target.startswith("/") else "") + re.sub(r"\d+", "#", file.split(":")[0])] += 1
    return [{"what": what, "count": count} for what, count in found.most_common(max_entries)]


def threads_by_name(pid: int, max_entries: int = 5) -> list[dict[str, Any]]:
    found = Counter[str]()
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            name = Path(f"/proc/{pid}/task/{thread}/comm").read_text().strip()
            found[re.sub(r"\d+", "#", name)] += 1
    except OSError:
        pass
    return [{"what": what, "count": count} for what, count in found.most_common(max_entries)]


def processes_by_name(pid: int, max_entries: int = 5) -> list[dict[str, Any]]:
    found = Counter(re.sub(r"\d+", "#", who(child)) for child in descendants(pid))
    return [{"what": what, "count": count} for what, count in found.most_common(max_entries)]


def descendants(pid: int) -> list[int]:
    """The process and all its live descendants."""
    import psutil

    try:
        return [pid] + [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return [pid]


def largest_processes(max_entries: int = 3) -> list[dict[str, Any]]:
    """The processes that use the most memory on this machine."""
    import psutil

    found = []
    for process in psutil.process_iter(["pid", "name"]):
        size = resident(process.pid)
        if size:
            found.append({"pid": process.pid, "name": process.info["name"], "rss": size})
    return sorted(found, key=lambda entry: -entry["rss"])[:max_entries]


def who(pid: int) -> str:
    """The name of a process, or of a thread by its thread id."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


FEATURES = ("sse4_2", "avx", "avx2", "fma", "avx512f")


def processor() -> dict[str, Any]:
    """Its model, and which of the instruction sets used by TensorFlow's builds it supports."""
    try:
        text = Path("/proc/cpuinfo").read_text()[:20000]
    except OSError:
        return {}
    entries = dict(line.split(":", 1) for line in text.split("\n\n")[0].splitlines() if ":" in line)
    fields = {key.strip(): value.strip() for key, value in entries.items()}
    flags = fields.get("flags", "").split()
    if not flags:
        return {}
    return {"model": fields.get("model name", ""), "has": [name for name in FEATURES if name in flags]}


def cores() -> float:
    """The number of cores this process may use: CPU affinity, and the quota of its control group."""
    count = float(len(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else float(os.cpu_count() or 1)
    for quota, period in (
        ("/sys/fs/cgroup/cpu.max", None),
        ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"),
    ):
        try:
            parts = Path(quota).read_text().split()
            if period is not None:
                parts.append(Path(period).read_text())
            if parts[0] not in ("max", "-1"):
                count = min(count, int(parts[0]) / int(parts[1]))
        except (OSError, IndexError, ValueError):
            continue
    return count


def disk(path: Path | str) -> dict[str, Any] | None:
    try:
        status = os.statvfs(path)
    except OSError:
        return None
    return {
        "path": str(path),
        "free": status.f_bavail * status.f_frsize,
        "total": status.f_blocks * status.f_frsize,
        "inodes_free": status.f_favail,
    }


def folders_written_to(pid: int) -> set[str]:
    """Folders in which the process has a file open for writing."""
    found: set[str] = set()
    base = f"/proc/{pid}/fd"
    try:
        names = os.listdir(base)
    except OSError:
        return found
    for name in names:
        try:
            target = os.readlink(f"{base}/{name}")
            writable = os.lstat(f"{base}/{name}").st_mode & 0o200
        except OSError:
            continue
        if writable and target.startswith("/") and not target.startswith(("/dev/", "/proc/", "/sys/")):
            found.add(os.path.dirname(target.removesuffix(" (deleted)")))
    return found
