"""A tf.function is traced again and again."""

from __future__ import annotations

import re
from collections import defaultdict

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.record.events.training import Trace
from laststep.record.place import Place
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

FEWEST = 5  # traces of one function, of which a few are normal
MOST_BETWEEN = 20  # steps between two traces of a function made anew: with more, each is used for long
Changed = tuple[tuple[str, str, str], ...]  # argument, before, now
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
    worst = _most_expensive(run)
    lost = sum(trace.seconds for trace in worst[1:])
    count = max((trace.number for trace in worst), default=0)
    taken = max(run.seconds - (worst[0].time - run.began), 1e-9) if worst else 1.0
    late = [trace for trace in worst[1:] if trace.step > 0 or len(worst) > 2 * FEWEST]
    if count < FEWEST or lost < SECONDS or lost < SHARE * taken or len(late) < FEWEST - 1:
        if count <= 1:
            return no("no function of the program was traced twice")
        return no(f"the most often traced function was traced {count} times, {words.span(lost)} lost")
    if not any(trace.changed for trace in worst) and worst[-1].step - worst[0].step > MOST_BETWEEN * len(worst):
        return no("functions were made anew, with many steps in between: one for each model")
    name, last = worst[0].name, worst[-1]
    changed: Changed = next((trace.changed for trace in reversed(worst) if trace.changed), ())
    spent = f"{name} was traced {count:,} times; {words.span(lost)} went into it ({lost / taken:.0%})"
    evidence = [Evidence(spent, (last,))]
    evidence += [
        Evidence(f"the argument {argument} was {spoken(before)}, then {spoken(now)}", (last,))
        for argument, before, now in changed[:2]
    ]
    if not changed:
        evidence.append(Evidence("each time it was a new function: it is made anew for each call", (last,)))
    return Finding(
        cause=f"{name} is traced again and again ({count:,} times, {words.span(lost)} lost): {_why(changed)}.",
        confidence=Confidence.CERTAIN,
        evidence=tuple(evidence),
        remedies=(_remedy(changed, last.where),),
        where=last.where,
    )


def _most_expensive(run: Run) -> list[Trace]:
    """The traces of that function of the user's on which most time was lost."""
    groups: dict[tuple[str, int], list[Trace]] = defaultdict(list)
    for trace in run.all(Trace):
        if trace.function is not None:  # Keras's and tf.data's own are traced for each fit and each dataset
            groups[trace.function.file, trace.function.line].append(trace)
    return max(groups.values(), key=lambda traces: sum(trace.seconds for trace in traces[1:]), default=[])


def spoken(kind: str) -> str:
    """Literal[0.01] → 0.01; TensorSpec(shape=(3, 8), dtype=…) → a tensor of shape (3, 8)."""
    literal = re.fullmatch(r"Literal\[(.*)\]", kind)
    tensor = re.match(r"TensorSpec\(shape=(\(.*?\)|None|<unknown>), dtype=tf\.(\w+)", kind)
    if literal:
        return f"the Python value {literal[1]}"
    return f"a tensor of shape {tensor[1]}, {tensor[2]}" if tensor else kind


def _why(changed: Changed) -> str:
    if not changed:
        return "the function is made anew each time"
    argument, before, now = changed[0]
    return f"its argument {argument} is {spoken(before)} in one call and {spoken(now)} in the next"


def _remedy(changed: Changed, where: Place | None) -> Remedy:
    if not changed:
        return Remedy("Define the function once, outside the loop", None, where)
    argument, _, now = changed[0]
    if now.startswith("Literal"):
        return Remedy("Pass a tensor instead of a Python number", f"{argument} = tf.constant({argument})", where)
    return Remedy("Let one graph serve all shapes", "@tf.function(reduce_retracing=True)", where)
