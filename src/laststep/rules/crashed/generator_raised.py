"""The user's own data code raised."""

from __future__ import annotations

import re

from laststep.analysis.finding import Confidence, Evidence, Finding, Place, Remedy, no
from laststep.analysis.messages import failures
from laststep.analysis.progress import progress
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.recorder.frames import users_line
from laststep.rules.rule import Answer, rule

# What TensorFlow makes of an exception in Python code that it calls: its class and text, then its traceback.
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


@rule(outranks=("unhandled-exception", "shape-mismatch", "dtype-mismatch"))
def generator_raised(run: Run) -> Answer:
    """The program's own data code raised: a generator, a PyDataset, a function in map or py_function.

    What happened
        Keras or TensorFlow asked the program's own code for the next batch or element, and that code raised. What
        arrives at the top is another error (UnknownError, InvalidArgumentError) with the real one inside its text.

    How laststep knows
        The stack passes from the library's data code into the program's own, or TensorFlow's message carries the
        Python traceback of the function that it called.

    What to do
        Mend the line that is shown: it is your own. To see it at once the next time, run the data code alone: for
        batch in generator: pass.

    Not to be confused with
        data-exhausted (it ended without an error), missing-file and undecodable-image (raised there too, and
        named by what went wrong).
    """
    for error in failures(run):
        inside = _inside(error)
        where = inside[1] if inside else _called_by_the_library(error)
        sure = bool(inside) or any(_CALLERS.search(str(frame.get("file", ""))) for frame in error.get("frames") or [])
        kind = inside[0] if inside else str(error.get("type", "?")).rsplit(".", 1)[-1]
        if where is None or kind.startswith(_NOT_AN_ERROR):
            continue
        message = kind if inside else f"{kind}: {str(error.get('message'))[:300]}"
        return _finding(run, error, message, where, Confidence.CERTAIN if sure else Confidence.LIKELY)
    return no("no exception came out of the program's own data code")


def _finding(run: Run, error: Event, message: str, where: Place, confidence: Confidence) -> Finding:
    kind, wrapped = message.split(":")[0], str(error.get("type", "?")).rsplit(".", 1)[-1]
    function = f" in {where['function']}" if where.get("function") else ""
    evidence = [Evidence(message, (error,))]
    if wrapped != kind:
        evidence.append(Evidence(f"TensorFlow passed it on as {wrapped}", (error,)))
    return Finding(
        cause=f"The program's own data code raised {kind}{function}.",
        confidence=confidence,
        evidence=(*evidence, progress(run)),
        remedies=(Remedy("Mend this line of your data code", None, where),),
        where=where,
    )


def _inside(error: Event) -> tuple[str, Place] | None:
    """The exception that TensorFlow carries in its text, and the user's line in its traceback."""
    found = _INSIDE.search(str(error.get("message", "")))
    if not found:
        return None
    frames = [
        {key: int(value) if key == "line" else value for key, value in frame.groupdict().items() if value}
        for frame in _FRAME.finditer(found["stack"])
    ]
    where = users_line(reversed(frames))
    return (f"{found['type'].rsplit('.', 1)[-1]}: {found['message']}", where) if where else None


def _called_by_the_library(error: Event) -> Place | None:
    """The deepest of the user's frames, when a library's data code called into it."""
    frames = error.get("frames") or []
    called = "generator raised StopIteration" in str(error.get("message"))
    for frame in frames:
        called = called or bool(_CALLERS.search(str(frame.get("file", "")))) or bool(frame.get("generator"))
        mine = users_line([frame])
        if called and mine is not None:
            where = users_line(reversed(frames))
            return {**where, "function": frame.get("function")} if where else None
    return None
