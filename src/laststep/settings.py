"""Settings: command-line option, then LASTSTEP_*, then [tool.laststep] in pyproject.toml, then default."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, NamedTuple

ON_STALL = ("warn", "stacks", "stop", "restart")
UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}


class BadSetting(Exception):
    """Its message is printed as one line."""


class Settings(NamedTuple):
    """The names are the same in all three places."""

    dir: str | None = None
    quiet: bool = False
    keep_runs: int = 50
    keep_size: int = 10**9
    on_stall: str = "warn"
    stall_after: float = 0.0  # seconds; 0: learned from the run itself
    save_before_death: bool = False
    keep_last_batch: int = 16 * 10**6  # bytes; 0: keep no batch


def read_settings(given: dict[str, Any] | None = None, where: Path | None = None) -> Settings:
    """Merge the three places; `given` are the command-line options, None if not given."""
    options = {name: value for name, value in (given or {}).items() if value is not None}
    file = _from_pyproject(where)
    values: dict[str, Any] = {}
    for field, default in Settings._field_defaults.items():
        for source, name in (
            (options, field),
            (os.environ, f"LASTSTEP_{field.upper()}"),
            (file, field.replace("_", "-")),
            (file, field),
        ):
            if name in source:
                shown = f"--{field.replace('_', '-')}" if source is options else name
                values[field] = _convert(shown, default, source[name])
                break
    return Settings(**values)


def _from_pyproject(start: Path | None) -> dict[str, Any]:
    try:
        start = start or Path.cwd()
    except OSError:  # the working directory was deleted
        return {}
    for folder in (start, *start.parents):
        path = folder / "pyproject.toml"
        if os.path.isfile(path):  # False also if it is not accessible
            return _tool_table(path)
    return {}


def _tool_table(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text()
    except (OSError, ValueError):
        return {}  # an invalid pyproject.toml: other tools report it
    if "laststep" not in text:
        return {}
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10
        import tomli as tomllib  # type: ignore[no-redef,import-not-found,unused-ignore]
    try:
        table = tomllib.loads(text).get("tool", {}).get("laststep", {})
    except (ValueError, AttributeError):
        return {}
    if not isinstance(table, dict):
        return {}
    if isinstance(table.get("dir"), str):  # relative to the folder of the file
        table["dir"] = str(path.parent / Path(table["dir"]).expanduser())
    return table


def _convert(name: str, default: Any, value: Any) -> Any:
    try:
        if isinstance(default, bool):
            return value if isinstance(value, bool) else str(value).strip().lower() in ("1", "true", "yes", "on")
        if isinstance(default, float):
            seconds = float(value)
            if not 0 <= seconds < 1e9:
                raise ValueError(value)
            return seconds
        if isinstance(default, int):
            number = parse_size(str(value)) if default >= 10**6 else int(value)
            if number < 0:
                raise ValueError(value)
            return number
    except (ValueError, TypeError, OverflowError):
        example = "500 MB" if isinstance(default, int) and default >= 10**6 else "50"
        raise BadSetting(f"{name} can't be {value!r}; use e.g. {example}") from None
    if name.lower().replace("_", "-").endswith("on-stall") and value not in ON_STALL:
        raise BadSetting(f"{name} can't be {value!r}; use {', '.join(ON_STALL)}")
    return str(value)


def parse_size(text: str) -> int:
    """Bytes, from 1000, 500 MB or 1.5GB."""
    found = re.fullmatch(r"\s*([\d.]+)\s*([a-zA-Z]*)\s*", text)
    if not found or found[2].lower() not in UNITS:
        raise ValueError(text)
    number = float(found[1]) * UNITS[found[2].lower()]
    if number > 1e18:
        raise ValueError(text)
    return int(number)
