"""A label has no class."""

from __future__ import annotations

import re

from laststep import text as words
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy
from laststep.analysis.learning.labels import out_of_range
from laststep.analysis.messages import ECHOES, Said, answer, compiled, said
from laststep.analysis.progress import fit_place, progress, target_place
from laststep.analysis.shapes import what_fit_was_given
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

SAID = compiled(
    r"Received a label value of (?P<value>-?\d+) which is outside the valid range of \[(?P<low>-?\d+), "
    r"?(?P<high>-?\d+)\)\.(?:\s+Label values: (?P<labels>[-\d ]+))?",
    r"indices\[(?P<at>[\d,]+)\] = (?P<value>-?\d+) is not in \[(?P<low>-?\d+), ?(?P<high>-?\d+)\)",
    r"(?P<node>\w*embedding\w*|\w*Embedding\w*)?[^\n]*index (?P<value>-?\d+) (?:is )?out of (?:range|bounds) "
    r"(?:for axis \d+ with size |\[0, ?)(?P<high>\d+)(?=[^\n]*(?:class|label|to_categorical|one_hot))",
    r"(?i)(?:labels?|targets?|class(?:es)?) (?:values? )?must be (?:in|<|less than|between)[^\n]*",
    r"(?i)assertion[^\n]*(?:`?x < y`? did not hold|`?labels`? out of bound|t >= 0 && t < n_classes)[^\n]*",
)


@rule(outranks=(*ECHOES, "shape-mismatch", "bad-labels-for-loss", "cuda-kernel-failed", "nan-loss"))
def label_out_of_range(run: Run) -> Answer:
    """A label, or an index into a table, lies outside of what the model has.

    What happened
        With C output units the labels must be 0 … C-1. Labels that count from 1, a class that was added later, -1
        or 255 as "ignore", or an Embedding whose input_dim is the largest index instead of one more, break it.
        On the CPU it is an error; on a GPU or with jit_compile the loss becomes NaN without a word.

    How laststep knows
        The op's own message: the value, and the range that is allowed. Where there is none, from the labels of the
        steps that were looked at, the number of units, and a loss that is NaN.

    What to do
        Count the classes from the labels, and shift labels that begin at 1: y - 1. For an Embedding:
        input_dim = largest index + 1.

    Not to be confused with
        bad-labels-for-loss (numbers against one-hot rows), shape-mismatch.
    """
    message = said(run, *SAID)
    if message is None:
        return _in_silence(run)
    value, high = message.get("value"), message.get("high")
    table = bool(message.get("at")) or "mbedding" in message.quote or "mbedding" in message.op
    what = "index" if table else "label"
    room = f", and {'the table has rows' if table else 'the model has classes'} 0 to {int(high) - 1}" if high else ""
    return answer(
        run,
        message,
        "",
        cause=f"There is {'an' if table else 'a'} {what} {value}{room}." if value else "A label is out of range.",
        remedies=_remedies(run, message, table),
        more=(*_seen(message), *what_fit_was_given(run)),
    )


def _in_silence(run: Run) -> Answer:
    """With XLA or on a GPU: no error, and a loss that is no number."""
    found = out_of_range(run)
    if found is None:
        return answer(run, None, "no label was out of range")
    output, value = found
    low, high = (words.value(int(end or 0)) for end in (output.y.low, output.y.high))
    shift = Remedy("The labels seem to count from 1: let them count from 0", "y = y - 1", fit_place(run))
    room = Remedy("Give the last layer a unit for each class, or mend the labels", f"Dense({int(value) + 1}, …)")
    return Finding(
        cause=f"There is a label {int(value)}, and the model has classes 0 to {(output.units or 1) - 1}.",
        confidence=Confidence.CERTAIN,
        evidence=(Evidence(f"labels go from {low} to {high}; the loss is not a number", output.events), progress(run)),
        remedies=(shift if low == "1" and value == output.units else room,),
        where=target_place(run) or output.site.where,
    )


def _seen(message: Said) -> tuple[Evidence, ...]:
    values = [int(value) for value in re.findall(r"-?\d+", message.get("labels"))]
    return (Evidence(f"the labels of that batch go from {min(values)} to {max(values)}"),) if values else ()


def _remedies(run: Run, message: Said, table: bool) -> tuple[Remedy, ...]:
    value, high = message.get("value"), message.get("high")
    if not value or not high:
        return (Remedy("Compare the labels' largest value with the number of classes", "print(y.min(), y.max())"),)
    if table and int(value) < 0:
        return (Remedy("An index must not be negative: look where it is made", "tf.debugging.assert_non_negative(x)"),)
    if table and "mbedding" not in message.op + message.quote:
        return (Remedy("Let the indices stay below the size of what they point into, or make that larger"),)
    if table:
        change = f"Embedding(input_dim={max(int(value), 0) + 1}, …)  # the largest index of all your data, plus 1"
        return (Remedy("Give the table a row for each index", change),)
    values = [int(each) for each in re.findall(r"-?\d+", message.get("labels"))]
    if int(value) == int(high) and 0 not in values:
        return (Remedy("The labels seem to count from 1: let them count from 0", "y = y - 1", fit_place(run)),)
    if int(value) < 0:
        return (Remedy("Negative labels mark something to leave out: drop those samples, or give them weight 0"),)
    change = f"Dense({int(value) + 1}, …)  # one unit for each class: the largest label of all your data, plus 1"
    return (Remedy("Give the last layer a unit for each class, or mend the labels", change),)
