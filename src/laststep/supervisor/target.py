"""A process that laststep did not start: what it is, whether it may be read, what it has open."""

from __future__ import annotations

import os
import pwd
import re
from collections import Counter
from pathlib import Path

from laststep.record.claim import claimant, start_time
from laststep.record.events.stacks import FileGroup, OpenFiles
from laststep.record.events.supervisor import Launch
from laststep.record.folder import HOME_NAME, is_run, user_data_directory
from laststep.record.redact import environment_worth_keeping, hide_secrets
from laststep.supervisor import host
from laststep.supervisor.stacks import spy

MAX_FILE_GROUPS = 4
_IS_PYTHON = re.compile(r"(?:^|/)(?:lib)?(?:python|pypy)(\d(?:\.\d+)?)?[^/]*$")
_LIBRARY = re.compile(r"python(\d\.\d+)")
_RECORD = re.compile(r"(.+)/recorder\.\d+(?:-\d+)?\.jsonl$")


class CannotAttach(Exception):
    """Its message is printed as one line."""


def check_is_there(pid: int) -> None:
    """Raise where there is nothing to attach to."""
    if not host.HAS_PROC:
        raise CannotAttach("`laststep attach` reads /proc, which this system does not have: Linux only so far")
    state = state_of(pid)
    if not state:
        raise CannotAttach(f"there is no process {pid} (it may have ended; `pgrep -af python` lists those that run)")
    group = host.status(pid, "Tgid")
    if group and int(group) != pid:
        raise CannotAttach(f"{pid} is a thread of process {group}: laststep attach {group}")
    if state in "ZX":
        parent = host.status(pid, "PPid")
        raise CannotAttach(
            f"process {pid} has ended already: it is a zombie until its parent {parent} ({host.who(int(parent or 0))}) "
            "reads its exit status"
        )
    if state == "T":
        raise CannotAttach(stopped(pid))
    _is_not_laststep(pid)
    if state == "t":
        tracer = host.status(pid, "TracerPid")
        raise CannotAttach(f"a debugger is attached to process {pid}: process {tracer} ({host.who(int(tracer or 0))})")


def _is_not_laststep(pid: int) -> None:
    """A supervisor has the program's name in its command line too."""
    if not any("laststep" in word for word in _words(pid, "cmdline")):
        return
    for child in host.descendants(pid)[1:]:
        folder = run_folder_of(child)
        if folder is not None:
            raise CannotAttach(
                f"process {pid} is laststep itself, which records process {child}: laststep why {folder.name}, or "
                f"laststep attach {child}"
            )


def stopped(pid: int, at: str = "") -> str:
    where = f", at {at}" if at else ""
    return f"process {pid} is stopped{where} (SIGSTOP, or Ctrl-Z in its terminal). Resume it with: kill -CONT {pid}"


def state_of(pid: int) -> str:
    """The kernel's letter: R, S, D, T, Z …; "" for no process."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0].decode()
    except (OSError, IndexError):
        return ""


def switches(pid: int) -> dict[int, int]:
    """How often each thread was scheduled on a core so far: a blocked one is not."""
    found = {}
    for name in _listed(f"/proc/{pid}/task"):
        kinds = ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")
        counted = [host.status(pid, kind, int(name)) for kind in kinds]
        if all(text.isdigit() for text in counted):
            found[int(name)] = sum(int(text) for text in counted)
    return found


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def why_not(pid: int, because: str) -> str:
    """Why the stacks of this process cannot be read, and what to do."""
    if "not installed" in because:
        return "py-spy is needed to read the stacks of a process: pip install py-spy"
    if not _may_read(pid) or "ermission" in because:
        return _not_permitted(pid)
    if not is_python(pid):
        python = [child for child in host.descendants(pid)[1:] if is_python(child)]
        here = "; ".join(f"its child {child} is: laststep attach {child}" for child in python[:3])
        return f"process {pid} ({host.who(pid)}) is not a Python process" + (f"; {here}" if here else "")
    return f"the stacks of process {pid} could not be read ({because.removeprefix('py-spy: ').removeprefix('Error: ')})"


def can_be_read(pid: int) -> bool:
    """Whether a read that failed is worth a retry."""
    return spy() is not None and _may_read(pid) and is_python(pid)


def _may_read(pid: int) -> bool:
    """Reading the stacks needs the same permission as opening the memory."""
    try:
        with open(f"/proc/{pid}/mem", "rb"):
            return True
    except OSError:
        return False


def _not_permitted(pid: int) -> str:
    try:
        owner = Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return f"process {pid} ended"
    sudo = f'sudo "$(which laststep)" attach {pid}'
    if owner != os.geteuid() and os.geteuid() != 0:
        return f"process {pid} belongs to {_user(owner)}, not to you: {sudo}"
    scope = _number("/proc/sys/kernel/yama/ptrace_scope")
    if scope == 3:
        return "this machine forbids ptrace altogether (kernel.yama.ptrace_scope is 3 until the next boot)"
    if scope and os.geteuid() != 0:
        return (
            f"on this machine only root may read other processes (kernel.yama.ptrace_scope is {scope}): {sudo}, "
            'or permanently: sudo setcap cap_sys_ptrace=eip "$(which py-spy)"'
        )
    return (
        f"reading process {pid} is not permitted here. In a container the capability is missing: docker run "
        "--cap-add SYS_PTRACE …, or in Kubernetes securityContext.capabilities.add: [SYS_PTRACE]; elsewhere: " + sudo
    )


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"


def _number(path: str) -> int:
    try:
        return int(Path(path).read_text())
    except (OSError, ValueError):
        return 0


def is_python(pid: int) -> bool:
    return bool(_IS_PYTHON.search(_link(pid, "exe"))) or "libpython" in _maps(pid)


def python_version(pid: int) -> str:
    found = _LIBRARY.search(_link(pid, "exe")) or _LIBRARY.search(_maps(pid))
    return found[1] if found else ""


def has_tensorflow(pid: int) -> bool:
    return "/tensorflow/" in _maps(pid)


def _link(pid: int, name: str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/{name}").removesuffix(" (deleted)")
    except OSError:
        return ""


def _maps(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/maps").read_text(errors="replace")
    except OSError:
        return ""


def launch_of(pid: int) -> Launch:
    """As a supervisor would have written it at the start."""
    variables = {name: value for name, _, value in (word.partition("=") for word in _words(pid, "environ"))}
    return Launch(
        time=began(pid),
        command=tuple(hide_secrets(_words(pid, "cmdline"))),
        cwd=_link(pid, "cwd"),
        host=os.uname().nodename,
        environment=environment_worth_keeping(variables),
    )


def _words(pid: int, name: str) -> list[str]:
    try:
        raw = Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return []
    return [word.decode("utf-8", "replace") for word in raw.rstrip(b"\0").split(b"\0") if word]


def began(pid: int) -> float:
    import psutil

    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return 0.0


def files_of(pid: int) -> OpenFiles | None:
    """How many files are open, of how many, and where most of them are; None where that cannot be read."""
    links = [_link(pid, f"fd/{name}") for name in _listed(f"/proc/{pid}/fd")]
    if not links:
        return None
    groups = Counter(_kind(link) for link in links if link)
    try:
        limits = Path(f"/proc/{pid}/limits").read_text()
    except OSError:
        limits = ""
    most = re.search(r"^Max open files\s+(\d+)", limits, re.MULTILINE)
    return OpenFiles(
        count=len(links),
        limit=int(most[1]) if most else None,
        groups=tuple(FileGroup(what=what, count=count) for what, count in groups.most_common(MAX_FILE_GROUPS)),
    )


def holds(pid: int, beginning: str) -> bool:
    """Whether a file is open whose path begins so."""
    return any(_link(pid, f"fd/{name}").startswith(beginning) for name in _listed(f"/proc/{pid}/fd"))


def _kind(link: str) -> str:
    if not link.startswith("/"):
        kind = link.partition(":")[0]
        return kind if kind in ("socket", "pipe") else ""
    return "device" if link.startswith("/dev/") else os.path.dirname(link)


def run_folder_of(pid: int) -> Path | None:
    """The folder into which laststep already records this process."""
    held = {found[1] for name in _listed(f"/proc/{pid}/fd") if (found := _RECORD.match(_link(pid, f"fd/{name}")))}
    near = [Path(_link(pid, "cwd")) / HOME_NAME, user_data_directory()]
    below = [folder for home in near for folder in _runs_in(home)]
    return next((folder for folder in [*map(Path, sorted(held)), *below] if claimant(str(folder)) == pid), None)


def _runs_in(home: Path) -> list[Path]:
    try:
        return [folder for folder in home.iterdir() if is_run(folder)]
    except OSError:
        return []


def identity(pid: int) -> str:
    """Identifies a process even if its pid is used again; "" once it is gone or a zombie."""
    return start_time(pid) if state_of(pid) not in ("", "Z", "X") else ""
