"""The script or module that the command names and Python does not find: nothing of the program ran."""

from __future__ import annotations

import re
from dataclasses import dataclass

from laststep.logs.read import parsed_console
from laststep.record.events.process import ExitCall
from laststep.record.events.supervisor import Launch
from laststep.record.run import Run

NOT_FOUND_EXIT_CODE = 2  # Python's, where it cannot open its script
_NO_SCRIPT = re.compile(r"^\S*python[\w.]*(?:\.exe)?: can't open file '(?P<script>[^']+)': \[Errno 2\]")
_NO_MODULE = re.compile(
    r"^\S*python[\w.]*(?:\.exe)?: (?:Error while finding module specification for '[^']+' \(ModuleNotFoundError: )?"
    r"No module named '?(?P<module>[\w.]+)'?\)?$"
)
MAX_LAST_LINES = 3


@dataclass(frozen=True)
class MissingScript:
    """The script that is not there, and what is beside it under a similar name."""

    path: str
    similar: tuple[str, ...] = ()


def missing_script(run: Run) -> MissingScript | None:
    """Python could not open the script that it was started with."""
    if run.training_seen or run.exit_code not in (None, NOT_FOUND_EXIT_CODE):
        return None
    found = _last_said(run, _NO_SCRIPT)
    launch = run.first(Launch)
    if found is None or (launch is not None and not any(_same(word, found["script"]) for word in launch.command)):
        return None
    return MissingScript(found["script"], launch.similar if launch is not None else ())


def module_to_run(run: Run) -> str | None:
    """The module of `python -m module` that Python did not find."""
    launch = run.first(Launch)
    if run.training_seen or run.exit_code not in (None, 1) or (launch is not None and "-m" not in launch.command):
        return None
    exit_call = run.last(ExitCall)
    found = _NO_MODULE.search(exit_call.message or "") if exit_call is not None else _last_said(run, _NO_MODULE)
    return found["module"] if found is not None else None


def _last_said(run: Run, pattern: re.Pattern[str]) -> re.Match[str] | None:
    """Among the last lines: a child may have said the same long before."""
    lines = parsed_console(run).lines[-MAX_LAST_LINES:]
    return next((found for line in lines if (found := pattern.search(line.text))), None)


def _same(word: str, path: str) -> bool:
    return word.rsplit("/", 1)[-1] == path.rsplit("/", 1)[-1]
