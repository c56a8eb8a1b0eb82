"""Shapes in error messages: read, printed, and labels compared with the model's output."""

from __future__ import annotations

import re
from dataclasses import dataclass

from laststep.analysis.finding import Evidence
from laststep.analysis.messages import Message, compiled, find_message
from laststep.record.run import Run

Shape = tuple[int | None, ...]

# Labels and output that do not match, as Keras 3, tf_keras, Keras 1 and 2, and TensorFlow's own losses report it.
_LABEL_ERRORS = compiled(
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
CHANNELS = (1, 3, 4)
MIN_IMAGE_SIDE = 5
MAX_RATIO_OF_SIDES = 4
_TENSOR_SPEC = re.compile(r"TensorSpec\(shape=(\([^)]*\)), dtype=tf\.(\w+)[^)]*\)")


@dataclass(frozen=True)
class LabelMismatch:
    """Labels whose shape does not match the model's output."""

    message: Message
    target: Shape
    output: Shape

    @property
    def is_index_for_one_hot(self) -> bool:
        """One class index per sample, where the loss expects a one-hot row."""
        if "while using as loss" in self.message.found[0] and not self.output:
            return self.target[-1:] == (1,)
        classes = self.output[-1] if self.output else None
        one_number = self._is_number_per_position or (len(self.target) == len(self.output) and self.target[-1:] == (1,))
        sparse = self.is_loss_sparse or "target.ndim - 1" in self.message.found[0]
        return bool(classes and classes > 1) and one_number and not sparse

    @property
    def _is_number_per_position(self) -> bool:
        """The labels have all axes of the output but the last, and these have the same lengths."""
        if len(self.target) != len(self.output) - 1:
            return False
        pairs = list(zip(self.target[1:], self.output[1:-1], strict=True))
        if None in self.target[1:] + self.output[1:-1] and self.target[-1] == self.output[-1]:
            return False  # one row of classes, and an axis more in the output
        return all(label == position or None in (label, position) for label, position in pairs)

    @property
    def is_one_hot_for_index(self) -> bool:
        """A one-hot row per sample, where the loss expects one class index."""
        if self.message.get("rank"):
            return True
        if not self.is_loss_sparse or not self.output:
            return False
        if len(self.target) == 1 and len(self.output) == 2:  # the loss flattens them: 250 rows of 10 arrive as 2500
            samples, classes = self.output
            return bool(samples and classes) and self.target[0] == (samples or 0) * (classes or 0)
        return len(self.target) == len(self.output) and self.target[-1] == self.output[-1]

    @property
    def lacks_flatten(self) -> bool:
        """The output has axes that the labels do not have."""
        if self.is_loss_sparse and len(self.target) == 1 and len(self.output) == 2:
            samples, rows = self.target[0], self.output[0]
            return bool(samples and rows) and rows != samples and (rows or 0) % (samples or 1) == 0
        extra = 1 if self.is_loss_sparse else 0
        return len(self.output) >= 3 and len(self.target) < len(self.output) - extra

    @property
    def is_loss_sparse(self) -> bool:
        text = self.message.found[0]
        return (
            "target.ndim" in text
            or "got logits shape" in text
            or "labels.shape=" in text
            or bool(self.message.get("rank"))
        )


def label_mismatch(run: Run) -> LabelMismatch | None:
    """The labels and the output that did not match, where a loss reported it."""
    message = find_message(run, *_LABEL_ERRORS)
    if message is None:
        return None
    return LabelMismatch(message, parse_shape(message.get("target")), parse_shape(message.get("output")))


def parse_shape(text: str) -> Shape:
    """`None, 28, 28` or `?,10` as numbers; None for a size that is not known."""
    return tuple(
        int(part) if part.isdecimal() and len(part) < 16 else None
        for part in re.split(r"[,\s]+", text.strip(" ,"))
        if part
    )


def format_shape(sizes: Shape) -> str:
    """As Python prints it: (None, 28, 28), (10,)"""
    return f"({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''})"


def is_channels_first(shape: Shape) -> bool:
    """A batch of images whose small axis comes before the sides."""
    if len(shape) != 4 or shape[1] not in CHANNELS or shape[3] in CHANNELS:
        return False
    sides = [side or 0 for side in shape[2:]]
    return min(sides) >= MIN_IMAGE_SIDE and max(sides) <= MAX_RATIO_OF_SIDES * min(sides)


def fit_arguments(run: Run) -> tuple[Evidence, ...]:
    """The shapes of the data and the loss that fit was called with, where they were recorded."""
    if run.fit is None or run.is_log:
        return ()
    began = run.fit.began
    data, given = began.data, []
    if data.shape:
        given.append(f"x {data.shape} {data.dtype}".strip())
    if data.y_shape:
        given.append(f"y {data.y_shape} {data.y_dtype}".strip())
    if not given and data.element_spec:
        given.append(_TENSOR_SPEC.sub(r"\1 \2", data.element_spec)[:120])
    if isinstance(began.loss, str):
        given.append(f"loss {began.loss}")
    return (Evidence(f"fit was called with {', '.join(given)}", (began,)),) if given else ()
