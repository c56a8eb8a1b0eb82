"""Events about experiments: a step run again, and the side runs of `laststep tune` and `laststep prove`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from laststep.record.event import Event
from laststep.record.events.numbers import BadValues
from laststep.record.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """The range of an operation's input."""

    low: float
    high: float
    there: float | None = None  # its value where the first bad number came out; None where the shapes differ


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin(BadValues):
    """The operation that made the first bad number out of finite inputs, and its output."""

    SPARSE: ClassVar[tuple[str, ...]] = ("samples", "features")

    operation: str = ""
    gradient_of: str | None = None  # in the backward pass, the operation whose gradient it computes
    phase: str = ""  # forward, gradients, update
    where: Place | None = None
    layer: str | None = None
    inputs: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeOperation:
    """A logarithm, root or division, and how near to 0 its input came."""

    operation: str
    nearest: float
    where: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed(Event):
    """The bad step was run again: the operation that made the first bad number, or why it could not be run."""

    KIND: ClassVar[str] = "replayed"
    SPARSE: ClassVar[tuple[str, ...]] = ("because",)

    because: str = ""  # why it could not be run; then all other fields are empty
    operations: int = 0
    rows: int = 0  # samples in the batch
    inputs: Mapping[str, BadValues] = field(default_factory=dict)  # tensors of the batch by role
    raised: str | None = None
    loss: tuple[float, ...] = ()  # one for each tensor that gradients were taken of
    origin: Origin | None = None
    edges: tuple[EdgeOperation, ...] = ()  # the nearest first, where there is no origin
    in_gradients: bool = False  # the loss was finite and a gradient was not


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRun(Event):
    """A side run began, began to train, ended, or is not supported for this program."""

    KIND: ClassVar[str] = "side-run"

    state: str = ""  # began, trains, ended, unsupported
    where: Place | None = None  # the call of fit
    because: str = ""  # why it is not supported
    data: str = ""  # tf.data, generator in tf.data, PyDataset, generator, arrays
    cores: int | None = None
    whole_epochs: bool | None = None  # whether whole epochs are timed; None where nothing is
    notes: tuple[str, ...] = ()  # what is not as in the program
    batch: int | None = None  # batch size
    steps: int = 0  # of each training, as planned


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Event):
    """A change of the input pipeline that the side run tries, or does not try and why."""

    KIND: ClassVar[str] = "change"

    arm: str | None = None  # by which turns refer to it; None where it is not tried
    says: str = ""
    where: Place | None = None
    code: str = ""
    note: str = ""
    because: str = ""  # why it is not tried


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(Event):
    """Steps and seconds of training on one pipeline, in one round of a side run."""

    KIND: ClassVar[str] = "turn"

    arm: str = ""
    round: int | None = None
    steps: int = 0  # 0 where training on it failed
    seconds: float = 0.0
    because: str = ""  # why it failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained(Event):
    """One training in a side run of `laststep prove`, with or without the change: its losses."""

    KIND: ClassVar[str] = "trained"

    arm: str = ""  # as it is, changed
    round: int = 0
    steps: int = 0
    bad: int | None = None  # the step in which a number was not finite any more, or that raised
    raised: str = ""
    losses: tuple[float, ...] = ()  # means over equal stretches of steps
    skill: tuple[tuple[int, float], ...] = ()  # (step, skill): 0 is a constant prediction, 1 perfect


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """A training as a `ProveResult` keeps it: the fields of `Trained`, with None for a loss that is not finite."""

    steps: int = 0
    bad: int | None = None
    raised: str = ""
    losses: tuple[float | None, ...] = ()
    skill: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProveResult(Event):
    """What `laststep prove` found about a finding: the change that was tried, the trainings, the verdict."""

    KIND: ClassVar[str] = "proof"

    rule: str = ""
    says: str = ""  # the change
    verdict: str = ""  # PROVEN, WITHDRAWN
    because: str = ""
    rounds: tuple[tuple[Training, Training], ...] = ()  # (as it is, changed)
