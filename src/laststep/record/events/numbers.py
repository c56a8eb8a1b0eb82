"""Events about the numbers of a training step: gradients, losses, weights, statistics of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, TypeAlias

from laststep.record.decode import WHOLE, Shape, key
from laststep.record.event import Event
from laststep.record.events.shared import Optimizer
from laststep.record.place import Place

Sizes: TypeAlias = Annotated[tuple[int, ...], WHOLE]  # a shape of which every length is known


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableShape:
    """A variable and its shape."""

    name: str = ""
    shape: Sizes | None = None  # None where a length is not fixed


@dataclass(frozen=True, slots=True, kw_only=True)
class LossCall:
    """A loss and the tensors that it compares; a shape is empty where it is not known."""

    name: str = ""  # of its function
    from_logits: bool | None = None  # None where the loss has no such setting
    label_smoothing: float = 0.0
    y_shape: Shape = ()
    y_dtype: str = ""
    y_pred_shape: Shape = ()
    y_pred_dtype: str = ""
    made_by: str = ""  # the operation that gives the predictions, as Softmax; empty in an eager step


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A layer of the model, and where it is made."""

    name: str = ""
    class_name: str = field(default="", metadata=key("class"))
    trainable: bool | None = None
    activation: str = ""
    recurrent_activation: str = ""
    units: int | None = None
    filters: int | None = None
    rate: float | None = None  # of Dropout
    scale: bool | float | None = None  # whether BatchNormalization scales; the factor of Rescaling
    offset: float | None = None  # of Rescaling
    weights: tuple[str, ...] = ()
    untracked: tuple[str, ...] = ()  # attributes that hold a trainable variable which Keras does not know of
    dtype: str | None = None  # the name of its dtype policy
    where: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLayers:
    """The model whose variables gradients are taken of; all empty where it was not found."""

    name: str = ""
    class_name: str = field(default="", metadata=key("class"))
    trainable: int = 0  # variables
    variables: int = 0
    optimizer: str | None = None  # its class; None where the model was not compiled
    layers: tuple[Layer, ...] = ()
    outputs: tuple[str, ...] = ()  # the layers that give the outputs, where the model is a graph of layers


@dataclass(frozen=True, slots=True, kw_only=True)
class Broadcast:
    """Targets of shape (n,) and predictions of shape (n, 1) that were broadcast against each other."""

    op: str = ""
    shapes: tuple[Shape, ...] = ()  # of the two operands
    out: Shape | None = None
    where: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskyOperation:
    """A logarithm, root, division or the like on the way to the loss, in the user's own code."""

    op: str = ""
    where: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gradients(Event):
    """Gradients are taken here: with respect to which variables, of which losses, in which model."""

    KIND: ClassVar[str] = "gradients"

    site: int = 0  # the number of this place, by which other events refer to it
    where: Place | None = None
    step: int = 0  # steps done until then
    variables: tuple[VariableShape, ...] = ()
    missing: tuple[str, ...] = ()  # those of the variables that have no gradient
    unasked: tuple[VariableShape, ...] = ()  # that the loss uses and no gradient is taken of
    losses: tuple[LossCall, ...] = ()
    model: ModelLayers = field(default_factory=ModelLayers)
    optimizer: Optimizer = field(default_factory=Optimizer)
    broadcast: Broadcast | None = None
    risky: tuple[RiskyOperation, ...] | None = None  # None where it was not searched for, as in an eager step
    cut_at: Place | None = None  # the only line before that lets no gradient through, where some are missing
    made_at: tuple[Place | None, ...] = ()  # the inputs and the targets; outside fit only


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers(Event):
    """The numbers of one step: loss, norms of gradients and weights by layer, units without gradient."""

    KIND: ClassVar[str] = "numbers"

    site: int = 0
    step: int = 0
    loss: float | None = None
    rate: float | None = None  # learning rate
    grads: Mapping[str, float | None] = field(default_factory=dict)  # None for a layer without gradient
    weights: Mapping[str, float] = field(default_factory=dict)  # empty in steps in which they were not read
    moved: Mapping[str, float] = field(default_factory=dict)  # norm of the change of the weights since the step `since`
    since: int = 0
    broken: tuple[str, ...] = ()  # variables that are not finite
    dead: Mapping[str, float] = field(default_factory=dict)  # share of a kernel's units that never had a gradient
    bad: bool | None = None  # True where the loss or a gradient is not finite


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorStatistics:
    """Statistics of one tensor over some batches; without the values that are not finite."""

    shape: Sizes | None = None  # of the last batch
    dtype: str = ""
    values: int = 0  # how many were examined
    nan: int = 0
    inf: int = 0
    low: float | None = None  # None (like mean, std and zeros) where no value was finite
    high: float | None = None
    mean: float | None = None
    std: float | None = None
    zeros: float | None = None  # share
    whole: bool = False  # all are whole numbers
    distinct: tuple[float, ...] = ()  # empty where there are more than 64
    row_sums: tuple[float, float] | None = None  # lowest and highest; of a table with several columns
    one_hot: bool = False  # each row of such a table is
    column_means: tuple[float, ...] = ()  # of a table
    column_stds: tuple[float, ...] = ()
    # Of targets that are probabilities, not all 0 or 1: the mean over the rows, and its standard error.
    entropy: tuple[float, float] | None = None  # of each value, as the probability of a yes
    row_entropy: tuple[float, float] | None = None  # of each row, as a distribution over classes
    bad_columns: Mapping[str, int] = field(default_factory=dict)  # column → values that are not finite


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStatistics(Event):
    """Statistics of the inputs, targets and predictions of the steps read so far."""

    KIND: ClassVar[str] = "batch"

    site: int = 0
    batches: int = 0
    tensors: Mapping[str, TensorStatistics] = field(default_factory=dict)  # by role: x, x/0, y, y_pred, sample_weight


@dataclass(frozen=True, slots=True, kw_only=True)
class BadValues:
    """How many values of a tensor are not finite, and where the first of them are."""

    nan: int = 0
    inf: int = 0
    of: int = 0  # values
    shape: Sizes | None = None
    samples: tuple[int, ...] = ()  # indices on the first axis
    features: tuple[int, ...] = ()  # indices on the last axis, where there are several


@dataclass(frozen=True, slots=True, kw_only=True)
class BadNumber(Event):
    """The first step with a number that is not finite: in the inputs, the loss or the gradients."""

    KIND: ClassVar[str] = "bad-number"

    site: int = 0
    step: int = 0
    loss: float | None = None
    inputs: Mapping[str, BadValues] = field(default_factory=dict)  # tensors of the batch by role, also y_pred
    data: Mapping[str, BadValues] = field(default_factory=dict)  # the arrays that fit was given
    kept: bool = False  # the batch and the weights were saved for a replay
    not_kept: str | None = None  # why
    weights_of: int | None = None  # the step after which the kept weights were read
    weights: Mapping[str, float] = field(default_factory=dict)  # their norms by layer
    grads: tuple[str, ...] = ()  # variables whose gradient is not finite
    finite: tuple[str, ...] = ()  # variables whose gradient is finite


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleValue(Event):
    """A Python number that a traced step read was changed later; or the step itself sets it, without effect."""

    KIND: ClassVar[str] = "stale"

    name: str = ""  # beta, or model.beta
    before: int | float | bool | None = None
    now: int | float | bool | None = None
    step: int | None = None
    file: str = ""
    line: int = 0
    function: str = ""
    written: bool = False  # the traced function sets it

    @property
    def place(self) -> Place | None:
        """None without a file and a line."""
        return Place(self.file, self.line, function=self.function) if self.file and self.line else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied(Event):
    """An optimizer updates these variables, in a loop of the program's own."""

    KIND: ClassVar[str] = "applied"

    optimizer: str = ""  # its class
    variables: tuple[str, ...] = ()
    where: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence(Event):
    """Whether targets depend on inputs, by a permutation test on a sample of the rows."""

    KIND: ClassVar[str] = "dependence"

    site: int = 0
    rows: int = 0
    features: int = 0
    targets: str = ""  # classes, numbers
    p: float | None = None  # chance of such a dependence with shuffled targets
    constant: bool = False  # no input varies
