"""The program's own data code raised."""

from __future__ import annotations

import dataclasses
import re

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.messages import failures
from laststep.analysis.progress import progress
from laststep.record.events.process import Raised
from laststep.record.events.shared import Frame, users_line
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule

# How TensorFlow reports an exception in Python code that it calls: its class and message, then its traceback.
_INSIDE = re.compile(
    r"(?P<type>\b(?:[A-Za-z_][\w.]*)?(?:Error|Exception|Interrupt|Exit|Warning|Iteration|Empty|Full)): ?"
    r"(?P<message>[^\n]*)\nTraceback \(most recent call last\):\n"
    r"(?P<stack>[\s\S]*)"
)
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)(?:\n\s+(?P<text>[^\n]+))?')
# Library code that calls the user's own for a batch or an element.
_CALLERS = re.compile(
    r"data_adapters?[/\\]|data_adapter\.py|py_dataset_adapter|generator_data_adapter|script_ops\.py|"
    r"from_generator_op\.py|"
    r"keras[/\\]\S*utils[/\\]data_utils\.py|iterator_ops\.py|epoch_iterator\.py"
)
_NOT_AN_ERROR = ("StopIteration", "GeneratorExit", "KeyboardInterrupt")


@rule(
    tier=Tier.CONSEQUENCE,
    follows=("crashed", "data-exhausted", "dataset-empty"),
    outranks=("shape-mismatch", "dtype-mismatch"),
)
def generator_raised(run: Run) -> Answer:
    """The program's own data code raised: a generator, a PyDataset, a function in map or py_function.

    What happened
        Keras or TensorFlow called the program's own code for the next batch or element, and that code raised.
        The error that surfaces is another one (UnknownError, InvalidArgumentError), with the original inside
        its message.

    How laststep knows
        The stack goes from the library's data code into the program's own, or TensorFlow's message contains the
        Python traceback of the function that it called.

    What to do
        Fix the line that is shown. To reproduce the error without training, run the data code alone: for batch
        in generator: pass.

    Not to be confused with
        data-exhausted (the data ended without an error), missing-file and undecodable-image (raised in data
        code too, and named after what went wrong).
    """
    for error in failures(run):
        inside = _inside(error)
        where = inside[1] if inside else _called_by_the_library(error)
        is_certain = bool(inside) or any(_CALLERS.search(frame.file) for frame in error.frames)
        kind = inside[0] if inside else _class_name(error)
        if where is None or kind.startswith(_NOT_AN_ERROR):
            continue
        message = kind if inside else f"{kind}: {error.message[:300]}"
        return _finding(run, error, message, where, Confidence.CERTAIN if is_certain else Confidence.LIKELY)
    return no("no exception came from the program's own data code")


def _class_name(error: Raised) -> str:
    return error.type.rsplit(".", 1)[-1] or "?"


def _finding(run: Run, error: Raised, message: str, where: Place, confidence: Confidence) -> Finding:
    kind, wrapped = message.split(":")[0], _class_name(error)
    is_named = where.function and not where.function.rpartition(".")[2].startswith("<")  # <lambda>, <listcomp>
    function = f" in {where.function}" if is_named else ""
    evidence = [Evidence(message, (error,))]
    if wrapped != kind:
        evidence.append(Evidence(f"TensorFlow reported it as {wrapped}", (error,)))
    return Finding(
        cause=f"The program's own data code raised {kind}{function}.",
        confidence=confidence,
        evidence=(*evidence, progress(run)),
        remedies=(Remedy("Fix this line of your data code", None, where),),
        where=where,
    )


def _inside(error: Raised) -> tuple[str, Place] | None:
    """The exception inside TensorFlow's message, and the user's line in its traceback."""
    found = _INSIDE.search(error.message)
    if not found:
        return None
    frames = [
        Frame(file=frame["file"], line=int(frame["line"]), function=frame["function"], text=frame["text"] or "")
        for frame in _FRAME.finditer(found["stack"])
    ]
    innermost = next((frame for frame in reversed(frames) if users_line([frame])), None)
    where = innermost.place if innermost is not None else None
    message = f"{found['type'].rsplit('.', 1)[-1]}: {found['message']}".rstrip(": ")
    return (message, where) if where is not None else None


def _called_by_the_library(error: Raised) -> Place | None:
    """The user's innermost line, where a library's data code called into it."""
    called = "generator raised StopIteration" in error.message
    for frame in error.frames:
        called = called or bool(_CALLERS.search(frame.file)) or frame.generator
        if called and users_line([frame]) is not None:
            where = users_line(reversed(error.frames))
            return dataclasses.replace(where, function=frame.function) if where is not None else None
    return None
