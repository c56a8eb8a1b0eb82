"""Memory control groups, version 1 and 2: usage, limit and kill counters of a process's group and its ancestors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

UNLIMITED_BYTES = 1 << 60  # version 1 has a huge limit instead of none


def memory_groups(pid: int, root: Path = Path("/")) -> list[Path]:
    """The folders of a process's memory control groups, its own first, then its ancestors."""
    try:
        lines = (root / f"proc/{pid}/cgroup").read_text().splitlines()
    except OSError:
        return []
    version1 = version2 = None
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            version1 = path
        elif controllers == "":
            version2 = path
    if version1 is not None:
        return _groups_upwards(_mount_of(root, "cgroup", "memory"), version1, "memory.limit_in_bytes")
    if version2 is not None:
        return _groups_upwards(_mount_of(root, "cgroup2", ""), version2, "memory.current")
    return []


def _mount_of(root: Path, kind: str, controller: str) -> tuple[Path, str] | None:
    """(mount point, the group mounted there): inside a container that is not the root group."""
    try:
        lines = (root / "proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        fields = line.split(" ")
        after = fields[fields.index("-") + 1 :]
        if after[0] == kind and (not controller or controller in after[2].split(",")):
            return root / fields[4].lstrip("/"), fields[3]
    return None


def _groups_upwards(mount: tuple[Path, str] | None, path: str, marker: str) -> list[Path]:
    if mount is None:
        return []
    point, mounted = mount
    if mounted != "/" and path.startswith(mounted):
        path = path[len(mounted) :]
    folder = point / path.lstrip("/")
    chain = []
    while True:
        if (folder / marker).exists():
            chain.append(folder)
        if folder == point or point not in folder.parents:
            return chain
        folder = folder.parent


def read_group(folder: Path) -> dict[str, Any]:
    """Usage, limit and kill count of a group; what the kernel does not provide is left out."""
    if (folder / "memory.current").exists() or (folder / "memory.max").exists():
        events = _table(folder / "memory.events")
        values = {
            "used": _number(folder / "memory.current"),
            "limit": _number(folder / "memory.max"),
            "peak": _number(folder / "memory.peak"),
            "swap": _number(folder / "memory.swap.current"),
            "cache": _table(folder / "memory.stat").get("inactive_file"),
            "kills": events.get("oom_kill"),
            "hits": events.get("max"),
        }
    else:
        stat = _table(folder / "memory.stat")
        values = {
            "used": _number(folder / "memory.usage_in_bytes"),
            "limit": _number(folder / "memory.limit_in_bytes"),
            "peak": _number(folder / "memory.max_usage_in_bytes"),
            "swap": stat.get("swap"),
            "cache": stat.get("total_inactive_file"),
            "kills": _table(folder / "memory.oom_control").get("oom_kill"),
            "hits": _number(folder / "memory.failcnt"),
        }
    if values.get("limit") is not None and int(values["limit"] or 0) > UNLIMITED_BYTES:
        values["limit"] = None
    return {name: value for name, value in values.items() if value is not None}


def describe_group(folder: Path) -> dict[str, Any]:
    return {"group": str(folder)} | read_group(folder)


def tightest(groups: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The group with the least headroom; None if there is no limit."""
    limited = [group for group in groups if group.get("limit")]
    return min(limited, key=lambda group: group["limit"] - group.get("used", 0), default=None)


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def _table(path: Path) -> dict[str, int]:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return {}
    table = {}
    for line in lines:
        name, _, value = line.partition(" ")
        if value.strip().isdigit():
            table[name] = int(value)
    return table
