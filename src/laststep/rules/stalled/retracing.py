"""A tf.function is traced again and again."""

from __future__ import annotations

import re
from collections import defaultdict

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

FEWEST = 5  # traces of one function, of which a few are normal
MOST_BETWEEN = 20  # steps between two traces of a function made anew: with more, each is used for long
SECONDS, SHARE = 2.0, 0.05  # lost, and of the time since the first of them


@rule(needs=("recorder",))
def retracing(run: Run) -> Answer:
    """A tf.function is traced again and again: each time the whole Python code runs and a new graph is built.

    What happened
        A tf.function makes a graph for each kind of arguments. A Python number (a learning rate, a step number) is a
        new kind for each value, an array is one for each shape, and a function that is decorated anew in each turn
        of a loop begins from nothing each time. A trace takes from a tenth of a second to minutes, and its graph stays.

    How laststep knows
        It sees every trace, how long it took, from which line it was called, and which argument differs from the
        most similar call before.

    What to do
        Pass tf.constant(value) instead of a Python number; give shapes that vary as None in input_signature, or set
        reduce_retracing=True; define the function once, outside the loop.

    Not to be confused with
        graph-compiling (the first trace, once), graphs-accumulating (the memory that the graphs take).
    """
    groups: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in run.all("trace"):
        function = event.get("function") or {}
        if function:  # Keras's and tf.data's own are traced for each fit and each dataset
            groups[str(function.get("file")), str(function.get("line"))].append(event)
    worst = max(groups.values(), key=lambda of: sum(float(e.get("seconds") or 0) for e in of[1:]), default=[])
    lost = sum(float(event.get("seconds") or 0) for event in worst[1:])
    count = max((int(event.get("number") or 0) for event in worst), default=0)
    taken = max(run.seconds - (worst[0].time - run.began), 1e-9) if worst else 1.0
    late = [event for event in worst[1:] if int(event.get("step") or 0) > 0 or len(worst) > 2 * FEWEST]
    if count < FEWEST or lost < SECONDS or lost < SHARE * taken or len(late) < FEWEST - 1:
        told = f"the most often traced function was traced {count} times, {words.span(lost)} lost" if count > 1 else ""
        return no(told or "no function of the program was traced twice")
    steps = [int(event.get("step") or 0) for event in worst]
    if not any(event.get("changed") for event in worst) and steps[-1] - steps[0] > MOST_BETWEEN * len(steps):
        return no("functions were made anew, with many steps in between: one for each model")
    name = worst[0].get("name")
    changed: list[list[str]] = next((event.get("changed") for event in reversed(worst) if event.get("changed")), [])
    where = worst[-1].get("where")
    evidence = [
        Evidence(
            f"{name} was traced {count:,} times; {words.span(lost)} went into it ({lost / taken:.0%})", (worst[-1],)
        )
    ]
    evidence += [
        Evidence(f"the argument {argument} was {spoken(before)}, then {spoken(now)}", (worst[-1],))
        for argument, before, now in changed[:2]
    ]
    if not changed:
        evidence.append(Evidence("each time it was a new function: it is made anew for each call", (worst[-1],)))
    return Finding(
        cause=f"{name} is traced again and again ({count:,} times, {words.span(lost)} lost): {_why(changed)}.",
        confidence=Confidence.CERTAIN,
        evidence=tuple(evidence),
        remedies=(_remedy(changed, where),),
        where=where,
    )


def spoken(kind: str) -> str:
    """Literal[0.01] → 0.01; TensorSpec(shape=(3, 8), dtype=…) → a tensor of shape (3, 8)."""
    literal = re.fullmatch(r"Literal\[(.*)\]", kind)
    tensor = re.match(r"TensorSpec\(shape=(\(.*?\)|None|<unknown>), dtype=tf\.(\w+)", kind)
    if literal:
        return f"the Python value {literal[1]}"
    return f"a tensor of shape {tensor[1]}, {tensor[2]}" if tensor else kind


def _why(changed: list[list[str]]) -> str:
    if not changed:
        return "the function is made anew each time"
    argument, before, now = changed[0]
    return f"its argument {argument} is {spoken(before)} in one call and {spoken(now)} in the next"


def _remedy(changed: list[list[str]], where: dict[str, object] | None) -> Remedy:
    if not changed:
        return Remedy("Define the function once, outside the loop", None, where)
    argument, _, now = changed[0]
    if now.startswith("Literal"):
        return Remedy("Pass a tensor instead of a Python number", f"{argument} = tf.constant({argument})", where)
    return Remedy("Let one graph serve all shapes", "@tf.function(reduce_retracing=True)", where)
