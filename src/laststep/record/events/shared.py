"""Tables that several kinds of events hold: frames, callbacks, stages of an input pipeline, optimizers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from laststep.record.decode import Scalar, key
from laststep.record.paths import is_users_path
from laststep.record.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One frame of a Python stack."""

    SPARSE: ClassVar[tuple[str, ...]] = ("line", "text", "is_users", "generator", "counters")

    file: str = ""
    line: int = 0  # 0 where the interpreter did not know it
    function: str = ""
    text: str = ""  # the source line; only of the user's own code
    is_users: bool | None = field(default=None, metadata=key("is_users", "users"))  # None in older records
    generator: bool = False  # the user's function is a generator
    counters: Mapping[str, int] = field(default_factory=dict)  # local variables that count: epoch, step, i

    @property
    def place(self) -> Place | None:
        """None without a file and a line."""
        return _place(self.file, self.line, self.text, self.function, self.is_users)

    @property
    def is_users_own(self) -> bool:
        """Whether it is a line of the user's own code; by the path where the record does not say."""
        return is_users_path(self.file) if self.is_users is None else self.is_users


def users_line(frames: Iterable[Frame]) -> Place | None:
    """The user's own line in a stack of which the innermost frame comes first."""
    for frame in frames:
        if frame.file and frame.line and frame.is_users_own:
            return Place(frame.file, frame.line, frame.text, is_users=True)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackFacts:
    """A Keras callback: its class, where that is defined, and the call of it that an event is about, if any."""

    class_name: str = field(default="", metadata=key("class"))
    module: str = ""
    file: str = ""
    line: int = 0
    is_users: bool = field(default=False, metadata=key("is_users", "users"))  # whether the code that runs in it is
    values: Mapping[str, Scalar] = field(default_factory=dict)  # its attributes that are plain values
    hook: str = ""  # the method that was being called
    raised_at: Place | None = None  # the line in the hook that raised, or called what raised
    made_at: Place | None = None  # where the user's program makes it

    @property
    def place(self) -> Place | None:
        """None without a file and a line."""
        return _place(self.file, self.line, "", "", self.is_users)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenLine:
    """A line of the user's at which a thread was seen, and in how many snapshots."""

    file: str = ""
    line: int = 0
    text: str = ""
    is_users: bool | None = None
    snapshots: int = field(default=0, metadata=key("looks"))  # in which it was seen

    @property
    def place(self) -> Place | None:
        """None without a file and a line."""
        if not self.file or not self.line:
            return None
        return Place(self.file, self.line, self.text, is_users=self.is_users)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage of a tf.data pipeline, the sizes that it was given, and what is known of its function."""

    stage: str = ""  # its class without the affixes: Shuffle, Batch, Prefetch, FlatMap
    bytes: int | None = None  # of one element; None where a part of it has no fixed size
    buffer_size: int | None = None
    batch_size: int | None = None
    drop_remainder: int | None = None  # 1 or 0
    count: int | None = None  # of repeat, skip, take; -1: without end
    num_parallel_calls: int | None = None  # -1: tf.data.AUTOTUNE
    cycle_length: int | None = None
    python: bool = False  # its function calls back into Python
    generator: bool = False  # from_generator
    random: bool = False  # its function draws random numbers
    reads: bool = False  # files
    decodes: bool = False  # images or sound
    function: str = ""  # the name of its function, where that is the user's own
    where: Place | None = None  # the function's first line
    called_at: Place | None = None  # where the dataset is given the function


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimizer:
    """An optimizer and its settings; a setting is None where it is not set, or is no plain number."""

    class_name: str = field(default="", metadata=key("class"))
    inner: str = ""  # the class of the optimizer inside a LossScaleOptimizer
    scales_loss: bool = False
    where: Place | None = None  # where it is made, or named in compile
    learning_rate: float | None = None  # NaN where it could not be read
    schedule: str = ""  # the class of a schedule of learning rates
    clipnorm: float | None = None
    clipvalue: float | None = None
    global_clipnorm: float | None = None
    weight_decay: float | None = None
    momentum: float | None = None
    nesterov: bool | None = None
    beta_1: float | None = None
    beta_2: float | None = None
    epsilon: float | None = None
    use_ema: bool | None = None
    loss_scale_factor: float | None = None
    gradient_accumulation_steps: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """A model's class and name, and its figures once it is built."""

    class_name: str = field(default="", metadata=key("class"))
    name: str = ""
    where: Place | None = None  # its __init__, where the class is the user's own
    parameters: int | None = None  # None, as all below, until it is built
    trainable: int | None = None  # parameters of the weights that are trained
    layers: int | None = None
    layer_classes: tuple[str, ...] = ()  # of the first 60
    last_activation: str | None = None
    input_shape: str | None = None  # as Python prints it
    output_shape: str | None = None


def _place(file: str, line: int, text: str, function: str, is_users: bool | None) -> Place | None:
    return Place(file, line, text, function, is_users) if file and line else None
