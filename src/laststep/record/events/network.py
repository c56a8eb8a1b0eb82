"""Events about the layers around an error: their order, their shapes, and the source of the calls that made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from laststep.record.decode import Scalar, Shape, key
from laststep.record.event import Event
from laststep.record.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """An argument of a call, and where its text stands; -1 where it takes several lines."""

    name: str = ""  # "" of a positional one
    text: str = ""
    line: int = 0
    begin: int = -1  # column, in characters
    end: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerUse:
    """The only place where a layer is applied to a tensor."""

    line: int = 0
    text: str = ""  # the whole line
    begins: int | None = None  # the column where the statement begins; None where it begins on another line
    argument: Argument = field(default_factory=Argument)
    parts: tuple[Argument, ...] = ()  # of an argument that is a list


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSource:
    """The source of a call."""

    file: str = ""
    line: int = 0
    lines: tuple[str, ...] = ()  # whole, as they stand there
    begin: int = 0  # column in the first line
    end: int = 0  # column in the last line
    close: tuple[int, int] | None = None  # line and column of the closing parenthesis behind the settings
    name: str = ""  # of what is called: layers.LSTM
    arguments: tuple[Argument, ...] = ()
    in_loop: bool = False
    form: str = ""  # added (to a model), element (of a list), applied (to a tensor), assigned
    receiver: str = ""  # of an added one: model.add
    use: LayerUse | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedLayer:
    """A layer on the way, with the shapes that it was given and gives; empty where they are not known."""

    name: str = ""
    class_name: str = field(default="", metadata=key("class"))
    library: str = ""  # keras, tf_keras
    inner: str = ""  # the class of the layer that it wraps
    given: Shape = ()
    gives: Shape = ()
    others: tuple[Shape, ...] = ()  # the shapes of its other inputs
    settings: Mapping[str, Scalar] = field(default_factory=dict)  # of the inner layer, where it wraps one
    weights: tuple[Shape, ...] = ()
    where: Place | None = None
    made: CallSource | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectArray:
    """The elements of an object array that fit was given."""

    kinds: tuple[str, ...] = ()  # their classes
    shortest: int | None = None
    longest: int | None = None
    axes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Network(Event):
    """The layers on the way to an error about shapes."""

    KIND: ClassVar[str] = "network"

    error: str = ""  # its class
    model: str = ""  # the class of the outermost model that it passed
    failed: str = ""  # the layer that raised it
    layers: tuple[PassedLayer, ...] = ()  # in the order in which the data passes them
    call: CallSource | None = None  # the user's call that led into Keras
    x_shape: Shape = ()  # of the arrays that fit was given; empty for other data
    y_shape: Shape = ()
    objects: ObjectArray | None = None
    reach: str | None = None  # how the program names keras.layers: `layers.`
    keras: str | None = None  # and Keras itself: `tf.keras.`
