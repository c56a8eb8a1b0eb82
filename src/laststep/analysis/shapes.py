"""Shapes in error messages: what was expected, what came, and what that usually means."""

from __future__ import annotations

import re
from dataclasses import dataclass

from laststep.analysis.finding import Evidence
from laststep.analysis.messages import Message, compiled, data_of, find_message
from laststep.record.run import Run

Shape = tuple[int | None, ...]

# Labels against the model's output, in the words of Keras 3, tf_keras, Keras 1 and 2, and TensorFlow's own losses.
_AGAINST = compiled(
    r"(?:must have|must equal|`target\.ndim)[^\n]*target\.shape=\((?P<target>[^)]*)\), "
    r"output\.shape=\((?P<output>[^)]*)\)",
    r"labels\.shape=\((?P<target>[^)]*)\)(?: of rank \d+)? and logits\.shape=\((?P<output>[^)]*)\)",
    r"got logits shape \[(?P<output>[^\]]*)\] and labels shape \[(?P<target>[^\]]*)\]",
    r"logits_size=\[(?P<output>[^\]]*)\] labels_size=\[(?P<target>[^\]]*)\]",
    r"`?logits`? and `?labels`? must have the same shape,? (?:received )?\(\((?P<output>[^)]*)\) vs\.? "
    r"\((?P<target>[^)]*)\)\)",
    r"Shapes \((?P<target>[^)]*)\) and \((?P<output>[^)]*)\) are incompatible",
    r"A target array with shape \((?P<target>[^)]*)\) was passed for an output of shape \((?P<output>[^)]*)\)",
    r"Error when checking (?:model )?target: expected (?P<layer>\w+) to have (?:shape \((?P<output>[^)]*)\)|\d+ "
    r"dimensions,?) but got array with shape \((?P<target>[^)]*)\)",
    r"You are passing a target array of shape \((?P<target>[^)]*)\) while using as loss",
    r"Rank mismatch: Rank of labels \(received (?P<rank>\d+)\) should equal rank of logits minus 1",
)


@dataclass(frozen=True)
class Labels:
    """Labels that do not fit the model's output."""

    message: Message
    target: Shape
    output: Shape

    @property
    def are_numbers_for_one_hot(self) -> bool:
        """One number for each sample, where the loss wants a row of the classes."""
        if "while using as loss" in self.message.found[0] and not self.output:
            return self.target[-1:] == (1,)
        classes = self.output[-1] if self.output else None
        plain = len(self.target) == len(self.output) - 1 or (
            len(self.target) == len(self.output) and self.target[-1] == 1
        )
        return (
            bool(classes and classes > 1)
            and plain
            and "target.ndim - 1" not in self.message.found[0]
            and not self._sparse
        )

    @property
    def are_one_hot_for_numbers(self) -> bool:
        """A row of the classes, where the loss wants one number."""
        if self.message.get("rank"):
            return True
        if not self._sparse or not self.output:
            return False
        if len(self.target) == 1 and len(self.output) == 2:  # flattened on the way: 250 rows of 10 arrive as 2500
            samples, classes = self.output
            return bool(samples and classes) and self.target[0] == (samples or 0) * (classes or 0)
        return len(self.target) == len(self.output) and self.target[-1] == self.output[-1]

    @property
    def lack_a_flatten(self) -> bool:
        """The output still has axes that the labels do not have."""
        if self._sparse and len(self.target) == 1 and len(self.output) == 2:
            samples, rows = self.target[0], self.output[0]
            return bool(samples and rows) and rows != samples and (rows or 0) % (samples or 1) == 0
        extra = 1 if self._sparse else 0
        return len(self.output) >= 3 and len(self.target) < len(self.output) - extra

    @property
    def _sparse(self) -> bool:
        text = self.message.found[0]
        return (
            "target.ndim" in text
            or "got logits shape" in text
            or "labels.shape=" in text
            or bool(self.message.get("rank"))
        )


def labels(run: Run) -> Labels | None:
    """The labels and the output that did not fit, where a loss complained of them."""
    message = find_message(run, *_AGAINST)
    return Labels(message, shape(message.get("target")), shape(message.get("output"))) if message else None


def shape(text: str) -> Shape:
    """`None, 28, 28` or `?,10` as numbers; None for what is not known."""
    return tuple(
        int(part) if part.isdecimal() and len(part) < 16 else None
        for part in re.split(r"[,\s]+", text.strip(" ,"))
        if part
    )


def spoken(sizes: Shape) -> str:
    """(any, 28, 28)"""
    inner = ", ".join("any" if size is None else str(size) for size in sizes)
    return f"({inner})"


def what_fit_was_given(run: Run) -> tuple[Evidence, ...]:
    """The data's shapes and the loss, where they were recorded."""
    fit, data = run.fit, data_of(run)
    if fit is None or run.is_log:
        return ()
    told = []
    if data.get("shape"):
        told.append(f"x {data['shape']} {data.get('dtype', '')}".strip())
    if data.get("y_shape"):
        told.append(f"y {data['y_shape']} {data.get('y_dtype', '')}".strip())
    if not told and data.get("element_spec"):
        told.append(
            re.sub(r"TensorSpec\(shape=(\([^)]*\)), dtype=tf\.(\w+)[^)]*\)", r"\1 \2", str(data["element_spec"]))[:120]
        )
    loss = fit.began.get("loss")
    told += [f"loss {loss}"] if isinstance(loss, str) else []
    return (Evidence(f"fit was given {', '.join(told)}", (fit.began,)),) if told else ()
