"""A package is not installed."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.messages import short_message
from laststep.analysis.packages import GONE_FROM_PYTHON, MissingModule, install, missing_module
from laststep.analysis.progress import progress
from laststep.analysis.scripts import module_to_run
from laststep.record.events.process import RecorderStart
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule


@rule(tier=Tier.ROOT)
def missing_package(run: Run) -> Answer:
    """A module that the program imports is not there: its package is not installed for this Python.

    What happened
        An import found nothing of that name: the package is not installed, or it is installed for another Python than
        the one that ran the program (another environment, the system's Python, the kernel of a notebook). Or the module
        is a file of the program's own, in a folder that Python does not search.

    How laststep knows
        Python's ModuleNotFoundError names the module. Which Python it was is recorded.

    What to do
        Run the command that is shown: it installs the package for that very Python. The name that pip knows often
        differs from the one in the import: cv2 is opencv-python, sklearn is scikit-learn, PIL is pillow.

    Not to be confused with
        library-incompatible (the package is there, in a version without that name), missing-file (a data file),
        gpu-libraries-unusable (a shared library).
    """
    to_run = module_to_run(run)
    if to_run is not None:
        return _not_started(to_run, run)
    missing = missing_module(run)
    if missing is None:
        return no("no import failed")
    if missing.is_part and not missing.is_hidden and missing.package != "":
        return no(f"{missing.name.partition('.')[0]} is installed, without {missing.name}")
    return Finding(
        cause=_cause(missing),
        confidence=Confidence.LIKELY if missing.is_hidden else Confidence.CERTAIN,
        evidence=(Evidence(short_message(missing.event), (missing.event,)), *_python(run), progress(run)),
        remedies=_remedies(run, missing),
        where=missing.event.where,
    )


def _cause(missing: MissingModule) -> str:
    first = missing.name.partition(".")[0]
    if missing.is_hidden:
        return f"Another file named {first}.py is imported instead of the package {first}."
    if missing.is_part:
        return f"{first} has no module {missing.name}."
    if missing.name in GONE_FROM_PYTHON:
        return f"This version of Python has no module {missing.name}."
    if missing.package:
        return f"The package {missing.package} is not installed for this Python."
    return f"There is no module {missing.name}: it is not installed, or it is not where Python looks for it."


def _remedies(run: Run, missing: MissingModule) -> tuple[Remedy, ...]:
    first = missing.name.partition(".")[0]
    if missing.is_hidden:
        return (
            Remedy(f"Rename {first}.py, and delete its __pycache__", f'python -c "import {first}; print({first})"'),
        )
    if missing.name in GONE_FROM_PYTHON:
        return (Remedy(f"Use {GONE_FROM_PYTHON[missing.name]}, or a package that does not need {missing.name}"),)
    if missing.package and not missing.is_part:
        return (Remedy("Install it for the Python that runs the program", install(run, missing.package)),)
    return (
        Remedy("If it is a file of your own, start the program from the folder that it is in, or set PYTHONPATH"),
        Remedy("If it belongs to a package, install that for this Python; pip may know it under another name"),
    )


def _python(run: Run) -> tuple[Evidence, ...]:
    started = run.last(RecorderStart)
    if started is None or not started.executable:
        return ()
    return (Evidence(f"the Python that ran it: {started.executable} ({started.python.partition(' ')[0]})", (started,)),)


def _not_started(name: str, run: Run) -> Finding:
    return Finding(
        cause=f"Python has no module {name} to run: nothing was started.",
        confidence=Confidence.CERTAIN,
        evidence=(Evidence(f"“No module named {name}”"), *_python(run), progress(run)),
        remedies=(
            Remedy(f"Start it from the folder in which {name.replace('.', '/')} is, without .py at its end"),
            Remedy("Or install the package that it is in for this Python"),
        ),
    )
