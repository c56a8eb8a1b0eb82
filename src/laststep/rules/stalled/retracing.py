"""A tf.function is traced again and again."""

from __future__ import annotations

import re
from collections import defaultdict

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.record.events.training import Trace
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_duration

MIN_TRACES = 5  # of one function; a few are normal
MAX_STEPS_BETWEEN = 20  # between two traces of a function that is created again: with more, each is used for long
MIN_LOST_SECONDS = 2.0
MIN_LOST_SHARE = 0.05  # of the time since the first of these traces
MAX_ARGUMENTS = 2

Changes = tuple[tuple[str, str, str], ...]  # argument, before, now


@rule(tier=Tier.ROOT, sees=("inside",), ends=False)
def retracing(run: Run) -> Answer:
    """A tf.function is traced again and again: each time all of its Python code runs and a new graph is built.

    What happened
        A tf.function builds a graph for each kind of arguments. A Python number (a learning rate, a step number) is a
        new kind for each value, and an array is one for each shape. A function that is decorated again in each
        iteration of a loop has no graph yet each time. A trace takes from a tenth of a second to minutes, and its
        graph stays in memory.

    How laststep knows
        It records every trace, how long it took, from which line it was called, and which argument differs from the
        most similar call before.

    What to do
        Pass tf.constant(value) instead of a Python number. Give shapes that vary as None in input_signature, or set
        reduce_retracing=True. Define the function once, outside the loop.

    Not to be confused with
        graph-compiling (the first trace, once), graphs-accumulating (the memory that the graphs take).
    """
    worst = _most_expensive(run)
    lost = sum(trace.seconds for trace in worst[1:])
    count = max((trace.number for trace in worst), default=0)
    taken = max(run.seconds - (worst[0].time - run.began), 1e-9) if worst else 1.0
    late = [trace for trace in worst[1:] if trace.step > 0 or len(worst) > 2 * MIN_TRACES]
    few = count < MIN_TRACES or len(late) < MIN_TRACES - 1
    if few or lost < MIN_LOST_SECONDS or lost < MIN_LOST_SHARE * taken:
        if count <= 1:
            return no("no function of the program was traced twice")
        return no(f"retracing cost {format_duration(lost)} at most, in a function that was traced {count} times")
    if not any(trace.changed for trace in worst) and worst[-1].step - worst[0].step > MAX_STEPS_BETWEEN * len(worst):
        return no("functions were created again, but many steps apart: one for each model")
    name, last = worst[0].name, worst[-1]
    changes: Changes = next((trace.changed for trace in reversed(worst) if trace.changed), ())
    return Finding(
        cause=f"{name} was traced {count:,} times ({format_duration(lost)} lost): {_why(changes)}.",
        confidence=Confidence.CERTAIN,
        evidence=(
            Evidence(f"tracing {name} again took {format_duration(lost)} ({lost / taken:.0%} of the time)", (last,)),
            *(Evidence(says, (last,)) for says in _differences(changes)),
        ),
        remedies=(_remedy(changes, last.where),),
        where=last.where,
    )


def _most_expensive(run: Run) -> list[Trace]:
    """The traces of the user's function whose retracing took most time."""
    groups: dict[tuple[str, int], list[Trace]] = defaultdict(list)
    for trace in run.all(Trace):
        if trace.function is not None:  # Keras's and tf.data's own are traced for each fit and each dataset
            groups[trace.function.file, trace.function.line].append(trace)
    return max(groups.values(), key=lambda traces: sum(trace.seconds for trace in traces[1:]), default=[])


def _differences(changes: Changes) -> list[str]:
    if not changes:
        return ["each trace was of a new function: the function is created again for each call"]
    return [
        f"the argument {argument} was {describe_type(before)}, then {describe_type(now)}"
        for argument, before, now in changes[:MAX_ARGUMENTS]
    ]


def describe_type(kind: str) -> str:
    """Literal[0.01] → the Python value 0.01; TensorSpec(shape=(3, 8), dtype=…) → a tensor of shape (3, 8)."""
    literal = re.fullmatch(r"Literal\[(.*)\]", kind)
    tensor = re.match(r"TensorSpec\(shape=(\(.*?\)|None|<unknown>), dtype=tf\.(\w+)", kind)
    if literal:
        return f"the Python value {literal[1]}"
    return f"a tensor of shape {tensor[1]}, {tensor[2]}" if tensor else kind


def _why(changes: Changes) -> str:
    if not changes:
        return "the function is created again each time"
    argument, before, now = changes[0]
    return f"its argument {argument} is {describe_type(before)} in one call and {describe_type(now)} in the next"


def _remedy(changes: Changes, where: Place | None) -> Remedy:
    if not changes:
        return Remedy("Define the function once, outside the loop", None, where)
    argument, _, now = changes[0]
    if now.startswith("Literal"):
        return Remedy("Pass a tensor instead of a Python number", f"{argument} = tf.constant({argument})", where)
    return Remedy("Let one graph serve all shapes, in tf.function", "reduce_retracing=True", where)
