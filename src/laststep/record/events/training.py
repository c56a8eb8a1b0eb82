"""Events of the recorder about training: fits, loops, epochs, traces, what memory holds; some also from a log."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from laststep.record.decode import WHOLE, Scalar, key
from laststep.record.event import Event
from laststep.record.events.shared import CallbackFacts, ModelFacts, Optimizer, Stage
from laststep.record.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingData:
    """What fit was given to train on."""

    type: str = ""  # numpy.ndarray, builtins.generator
    adapter: str = ""  # the class of Keras's that reads it
    cardinality: int | float | None = None  # batches, as Keras counts them; None where it does not know
    batch_size: int | None = None
    shape: str = ""  # as Python prints it; of arrays
    dtype: str = ""
    y_shape: str = ""
    y_dtype: str = ""
    element_spec: str = ""  # of a tf.data.Dataset
    stages: tuple[Stage, ...] = ()  # of a tf.data.Dataset, from its end to its source
    where: Place | None = None  # the generator's function
    made_at: Place | None = None  # the line that last set what fit was given as x
    x_made_at: Place | None = None  # the line that last set the inputs of which a tf.data pipeline is made
    y_made_at: Place | None = None  # the same for targets, given to fit or to the pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class FitEnvironment:
    """The devices that TensorFlow had initialized."""

    devices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FitStart(Event):
    """A fit began, with the arguments it was called with."""

    KIND: ClassVar[str] = "fit"

    id: int = 0  # counted from 1 in each process
    function: str = ""  # only in a log: "fit"
    at_line: int | None = None  # of the log
    where: Place | None = None  # the user's line that calls fit
    stack: tuple[Place, ...] = ()  # the user's lines that lead there, innermost first
    more_follows: bool | None = None  # by its source the program may train again; None: the source is not known
    new_model: bool | None = None  # this model was not fitted before; None where that could not be found out
    backend: str | None = None  # the package of the model's class

    batch_size: int | None = None
    epochs: int | None = None
    initial_epoch: int = 0
    steps: int | float | None = None  # batches in an epoch; None where Keras does not know
    steps_per_epoch: int | float | None = None  # as it was given, which may be a fraction; `steps` is the same then
    validation_steps: int | float | None = None
    validation_split: float | None = None
    validation_freq: int | None = None  # None also for a list
    shuffle: Scalar = None
    verbose: Scalar = None
    validation: bool | None = None  # validation_data was given

    data: TrainingData = field(default_factory=TrainingData)
    model: ModelFacts = field(default_factory=ModelFacts)
    optimizer: Optimizer = field(default_factory=Optimizer)
    callbacks: tuple[CallbackFacts, ...] = ()
    environment: FitEnvironment = field(default_factory=FitEnvironment)
    unread: Mapping[str, str] = field(default_factory=dict)  # the parts that could not be described, and why

    # The name of a loss; by output where there are several, nested as the model's outputs are, which may be any way.
    loss: str | Mapping[str, Any] | tuple[Any, ...] | None = None
    from_logits: bool | None = None
    jit_compile: bool | str | None = None
    run_eagerly: bool | None = None
    steps_per_execution: int | None = None
    strategy: str | None = None  # the class of the tf.distribute.Strategy
    precision: str | None = None  # the name of the dtype policy
    own_train_step: Place | None = None  # the train_step of the user's own

    precision_set_at: Place | None = None
    model_made_at: Place | None = None
    trainable_set_at: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelBuilt(Event):
    """The figures of a model that was not built yet when its fit began."""

    KIND: ClassVar[str] = "model"

    fit: int = 0
    class_name: str = field(default="", metadata=key("class"))
    name: str = ""
    where: Place | None = None
    parameters: int | None = None
    trainable: int | None = None
    layers: int | None = None
    layer_classes: tuple[str, ...] = ()
    last_activation: str | None = None
    input_shape: str | None = None
    output_shape: str | None = None

    @property
    def model(self) -> ModelFacts:
        return ModelFacts(**{each.name: getattr(self, each.name) for each in dataclasses.fields(ModelFacts)})


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetSeen(Event):
    """A dataset that a hand-written loop goes through: its stages, and where."""

    KIND: ClassVar[str] = "dataset"

    where: Place | None = None
    stages: tuple[Stage, ...] = ()  # from its end to its source


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup(Event):
    """How training is set up: TensorFlow's threads and devices, the ranks it is part of."""

    KIND: ClassVar[str] = "setup"

    inter: int | None = None  # threads as configured: 0 is TensorFlow's own choice; None where it is not initialized
    intra: int | None = None
    gpus: int | None = None  # logical devices
    workers: tuple[str, ...] = ()  # addresses in TF_CONFIG, the chief first
    task: tuple[str, Scalar] | None = None  # type and index in TF_CONFIG, where anything may stand


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch(Event):
    """An epoch ended, with its metrics."""

    KIND: ClassVar[str] = "epoch"

    fit: int = 0
    epoch: int = -1  # counted from 0
    batches: int | None = None  # that were delivered
    seconds: float | None = None
    learning_rate: float | None = None  # None also for a schedule
    metrics: Mapping[str, float] = field(default_factory=dict)

    # Only in a log:
    at_line: int | None = None
    of: int | None = None  # batches that the bar counts up to
    cut: bool = False  # Keras said that the data ran out
    is_open: bool = field(default=False, metadata=key("open"))  # the log ends before the epoch does
    moved_at: int | None = None  # the line of the bar's last move but one
    step_seconds: float | None = None  # as the bar says


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation(Event):
    """A validation or an evaluate with a number of steps ended: batches requested and delivered."""

    KIND: ClassVar[str] = "validation"

    fit: int = 0  # 0: an evaluate outside of any fit
    epoch: int = -1
    batches: int | None = None  # that were delivered
    asked: int = 0
    where: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FitEnd(Event):
    """A fit came to its own end."""

    KIND: ClassVar[str] = "fit-end"

    id: int = 0
    epoch: int | None = None  # the last that began; -1 where none did
    steps: int | None = None  # of all trainings in this process so far
    stop: bool = False  # model.stop_training was set


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSeen(Event):
    """A hand-written training loop was seen, and where its step is."""

    KIND: ClassVar[str] = "loop"

    where: Place | None = None
    function: Place | None = None  # the step's tf.function, where it is one of the user's own
    stack: tuple[Place, ...] = ()  # the user's lines that lead there, innermost first


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidingTest:
    """The `if` around the line that acted, and the values that it compares."""

    text: str = ""
    line: int = 0
    values: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop(Event):
    """stop_training was set: by which code, on which line, with which values."""

    KIND: ClassVar[str] = "stop"

    where: Place | None = None  # the user's line
    steps: int | None = None  # of all trainings in this process so far
    fit: int | None = None  # None where no fit was open
    epoch: int | None = None  # counted from 0; -1 before the first
    batch: int | None = None
    signal_handler: str = ""  # the signal, where a handler of the program's own did it
    callback: CallbackFacts | None = None
    hook: str = ""  # the callback's method
    line: Place | None = None  # in the callback's own code, or in its base class
    values: Mapping[str, Scalar] = field(default_factory=dict)  # the callback's attributes that are plain values
    metrics: Mapping[str, float] = field(default_factory=dict)
    test: DecidingTest | None = None  # only in a callback of the user's own
    at_line: int | None = None  # of the log
    text: str = ""  # the line of the log


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved(Event):
    """The model was saved before its end, and where."""

    KIND: ClassVar[str] = "saved"

    step: int = 0
    path: str | None = None  # None where it could not be saved
    because: str | None = None  # why not, or why only its weights
    bytes: int = 0
    seconds: float = 0.0
    why: str = ""  # why it was requested: SIGTERM, or memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace(Event):
    """TensorFlow traced a function: whose, how long it took, which arguments differ, how many graphs are alive."""

    KIND: ClassVar[str] = "trace"

    name: str = ""
    function: Place | None = None  # None where it is not the user's own
    number: int = 0  # how many times this function was traced by now
    seconds: float = 0.0
    where: Place | None = None  # the user's line that called it
    changed: tuple[tuple[str, str, str], ...] = ()  # argument, before, now: against the most similar earlier call
    step: int = 0
    graphs: int = 0  # alive


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A container under a name of the program's own."""

    name: str
    length: int
    bytes: int  # estimated from its newest entries
    file: str = ""  # where the name belongs; empty for Keras's
    kind: str = ""  # list, dict, set, deque
    holds: str = ""  # the class that takes most of it
    most: int | None = None  # maxlen of a deque
    where: Place | None = None  # the line that adds to it; only of the largest


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedLine:
    """A line of the user's and what it allocated that is alive, by tracemalloc."""

    file: str = ""
    line: int = 0
    text: str = ""
    is_users: bool | None = None
    bytes: int = 0

    @property
    def place(self) -> Place | None:
        return Place(self.file, self.line, self.text, "", self.is_users) if self.file and self.line else None


@dataclass(frozen=True, slots=True, kw_only=True)
class HandleGroup:
    """Threads, files or processes whose names differ in their digits only."""

    what: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuAllocation:
    """Bytes that TensorFlow's allocator has given out of one GPU."""

    gpu: int
    current: int
    peak: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Census(Event):
    """What the program's own names hold and how much of it; or what was given out of GPUs; or what the handles are."""

    KIND: ClassVar[str] = "census"

    step: int = 0

    # From inside, when memory grows:
    counts: Mapping[str, int] | None = None  # FuncGraph: graphs alive; None where nothing of this part is known
    rss: int | None = None  # bytes
    freed: int | None = None  # bytes given back by collecting garbage; None where it was not collected
    collections: int = 0  # by Python itself, of the oldest generation
    blocks: int = 0  # allocated by Python
    lines: tuple[TracedLine, ...] = ()  # only where the program has switched tracemalloc on
    containers: tuple[Container, ...] = ()  # largest first
    threads: tuple[HandleGroup, ...] = ()  # by Python's names
    cut_short: bool = False  # not everything was examined
    seconds: float | None = None  # that it took
    exhausted: bool = False  # taken when a GPU had no room left

    gpus: tuple[GpuAllocation, ...] = ()

    # From outside, when one of these grows:
    handles: str = ""  # files, threads, processes
    count: int | None = None
    what: tuple[HandleGroup, ...] = ()  # the largest groups

    @property
    def graphs(self) -> int:
        """How many are alive; 0 where it is not known."""
        return (self.counts or {}).get("FuncGraph", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileState(Event):
    """TensorFlow's profiler began, or ended: the steps that it saw, the layers, the reason."""

    KIND: ClassVar[str] = "profile"

    state: str = ""  # began, done, lost
    because: str = ""  # why it ended early, or was lost
    after: int | None = None  # the step before the first
    wanted: int | None = None  # steps
    steps: tuple[tuple[int, float, float], ...] = ()  # number, began, ended
    layers: Annotated[tuple[tuple[int, str], ...], WHOLE] = ()  # the parent's position in this list or -1, name
    optimizers: tuple[str, ...] = ()  # names
