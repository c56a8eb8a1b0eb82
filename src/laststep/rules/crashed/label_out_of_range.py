"""A label or an index is out of range."""

from __future__ import annotations

import re

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy
from laststep.analysis.learning.labels import out_of_range
from laststep.analysis.messages import Message, answer, compiled, find_message
from laststep.analysis.program import name_of_targets
from laststep.analysis.progress import fit_place, progress, target_place
from laststep.analysis.shapes import fit_arguments
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule
from laststep.text import format_value

MESSAGES = compiled(
    r"Received a label value of (?P<value>-?\d+) which is outside the valid range of \[(?P<low>-?\d+), "
    r"?(?P<high>-?\d+)\)\.(?:\s+Label values: (?P<labels>[-\d ]+))?",
    r"indices\[(?P<at>[\d,]+)\] = (?P<value>-?\d+) is not in \[(?P<low>-?\d+), ?(?P<high>-?\d+)\)",
    r"(?P<node>\w*embedding\w*|\w*Embedding\w*)?[^\n]*index (?P<value>-?\d+) (?:is )?out of (?:range|bounds) "
    r"(?:for axis \d+ with size |\[0, ?)(?P<high>\d+)(?=[^\n]*(?:class|label|to_categorical|one_hot))",
    r"(?i)(?:labels?|targets?|class(?:es)?) (?:values? )?must be (?:in|<|less than|between)[^\n]*",
    r"(?i)assertion[^\n]*(?:`?x < y`? did not hold|`?labels`? out of bound|t >= 0 && t < n_classes)[^\n]*",
)
VOID = 255  # in masks of images: belongs to no class


@rule(tier=Tier.ROOT)
def label_out_of_range(run: Run) -> Answer:
    """A label, or an index into an embedding or a table, is outside the range that the model was built for.

    What happened
        With C output units the labels must be 0 … C-1. Labels that start at 1, a class that was added later, -1
        or 255 as "ignore", or an Embedding whose input_dim is the largest index instead of one more, violate
        that. On the CPU it is an error; on a GPU or with jit_compile the loss silently becomes NaN.

    How laststep knows
        The op's own message: the value, and the allowed range. Without a message: from the labels of the steps
        that were sampled, the number of units, and a loss that is NaN.

    What to do
        Derive the number of classes from the labels, and shift labels that start at 1: y - 1. For an Embedding:
        input_dim = largest index + 1.

    Not to be confused with
        bad-labels-for-loss (class indices for one-hot rows), shape-mismatch.
    """
    message = find_message(run, *MESSAGES)
    if message is None:
        return _without_message(run)
    value, high = message.get("value"), message.get("high")
    table = bool(message.get("at")) or "mbedding" in message.quote or "mbedding" in message.op
    what, has = ("index", "the table has rows") if table else ("label", "the model has classes")
    bounds = f": {has} 0 to {int(high) - 1}" if high else ""
    return answer(
        run,
        message,
        "",
        cause=f"The {what} {value} is out of range{bounds}." if value else "A label is out of range.",
        remedies=_remedies(run, message, table),
        more=(*_seen(message), *fit_arguments(run)),
    )


def _without_message(run: Run) -> Answer:
    """With XLA or on a GPU: no error, and a loss that is NaN."""
    found = out_of_range(run)
    if found is None:
        return answer(run, None, "no label was out of range")
    output, value = found
    low, high = (format_value(int(end or 0)) for end in (output.y.low, output.y.high))
    shift = _shift(run)
    units = _more_units(int(value))
    return Finding(
        cause=f"The label {int(value)} is out of range: the model has classes 0 to {(output.units or 1) - 1}.",
        confidence=Confidence.CERTAIN,
        evidence=(Evidence(f"labels range from {low} to {high}; the loss is NaN", output.events), progress(run)),
        remedies=(shift if low == "1" and value == output.units else units,),
        where=target_place(run) or output.site.where,
    )


def _seen(message: Message) -> tuple[Evidence, ...]:
    values = [int(value) for value in re.findall(r"-?\d+", message.get("labels"))]
    return (Evidence(f"the labels of that batch range from {min(values)} to {max(values)}"),) if values else ()


def _remedies(run: Run, message: Message, table: bool) -> tuple[Remedy, ...]:
    value, high = message.get("value"), message.get("high")
    if not value or not high:
        return (Remedy("Compare the largest label with the number of classes"),)
    if table and int(value) < 0:
        return (Remedy("An index must not be negative: check where it is made"),)
    if table and "mbedding" not in message.op + message.quote:
        return (Remedy("Keep the indices below the size of the table, or enlarge the table"),)
    if table:
        change = f"input_dim={max(int(value), 0) + 1}"
        return (Remedy("Give the Embedding one row per index, the largest of all data plus 1", change),)
    values = [int(each) for each in re.findall(r"-?\d+", message.get("labels"))]
    if int(value) == int(high) and 0 not in values:
        return (_shift(run),)
    if int(value) < 0:
        return (Remedy('Negative labels often mean "ignore": drop those samples, or give them weight 0'),)
    return (_more_units(int(value)),)


def _shift(run: Run) -> Remedy:
    name = name_of_targets(run)
    change = f"{name} = {name} - 1" if name else None
    return Remedy("The labels seem to start at 1: shift them to start at 0", change, fit_place(run) if name else None)


def _more_units(value: int) -> Remedy:
    if value == VOID:
        return Remedy("255 often marks what is to be left out: tell the loss so", f"ignore_class={VOID}")
    does = "Give the last layer one unit per class, as many as the largest label of all data plus 1, or fix the labels"
    return Remedy(does, f"units={value + 1}")
