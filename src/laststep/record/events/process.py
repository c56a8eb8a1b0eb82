"""Events about the recorded process: the recorder and its probes, libraries, exceptions, warnings, how it ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from laststep.record.event import Event
from laststep.record.events.shared import CallbackFacts, Frame
from laststep.record.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class RecorderStart(Event):
    """The recorder started in this process."""

    KIND: ClassVar[str] = "recorder"

    pid: int | None = None
    python: str = ""  # its version
    executable: str = ""
    platform: str = ""  # sys.platform
    profile: str = ""  # the steps to profile, as requested: 10:20


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeState(Event):
    """A probe failed, was removed after repeated failures, or does not support this program."""

    KIND: ClassVar[str] = "probe"

    name: str = ""
    state: str = ""  # failed, removed, unsupported
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions(Event):
    """The versions of the libraries that the program has imported; empty for one that it has not."""

    KIND: ClassVar[str] = "versions"

    tensorflow: str = ""
    keras: str = ""
    tf_keras: str = ""
    numpy: str = ""
    jax: str = ""
    torch: str = ""

    @property
    def known(self) -> Mapping[str, str]:
        """By library."""
        by_name = {name: getattr(self, name) for name in ("tensorflow", "keras", "tf_keras", "numpy", "jax", "torch")}
        return {name: version for name, version in by_name.items() if version}


@dataclass(frozen=True, slots=True, kw_only=True)
class Build(Event):
    """What TensorFlow was built for; None where its build information does not say."""

    KIND: ClassVar[str] = "build"

    cuda: str | None = None  # version
    cudnn: str | None = None  # version
    with_cuda: bool | None = None
    capabilities: tuple[str, ...] | None = None  # of the cards that it has code for: sm_80, compute_90


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainedException:
    """The cause or the context of an exception."""

    type: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedFile:
    """The checkpoint, saved model or backup that was being read."""

    file: str
    backup: str = ""  # the folder of BackupAndRestore, where the file is in one


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised(Event):
    """An exception left a call of Keras or TensorFlow, a thread, a notebook's cell or the program."""

    KIND: ClassVar[str] = "exception"

    left: str = ""  # fit, call, thread, cell, program; of a log also caught and after (one after the fatal one)
    type: str = ""  # with its module, unless that is builtins
    bases: tuple[str, ...] = ()  # the names of its class and of the classes above it
    message: str = ""
    frames: tuple[Frame, ...] = ()  # innermost last
    where: Place | None = None  # the user's innermost line
    function: str = ""  # the method of Keras or TensorFlow that it left
    caught: Place | None = None  # the user's `except` that catches it; None also where it was not searched for
    thread: str = ""
    callback: CallbackFacts | None = None  # the one whose method raised
    because_of: tuple[ChainedException, ...] = ()
    loading: LoadedFile | None = None
    file_exists: bool | None = None  # the file that the message calls missing; None where it names none
    set_in_loop: Place | None = None  # of an unset name: the loop whose body alone sets it
    fit: int | None = None  # None, as epoch and batch, outside any fit
    epoch: int | None = None
    batch: int | None = None
    steps: int | None = None  # steps done until then
    at_line: int | None = None  # of the log


@dataclass(frozen=True, slots=True, kw_only=True)
class WarningShown(Event):
    """A Python warning that was shown to the user."""

    KIND: ClassVar[str] = "warning"

    category: str = ""  # its class; "logged" for a line of a logger
    message: str = ""
    file: str = ""
    line: int = 0
    at_line: int | None = None  # of the log
    batch: int | None = None  # where the progress bar of the log stood
    of: int | None = None  # the batches of that bar

    @property
    def place(self) -> Place | None:
        """None without a file and a line."""
        return Place(self.file, self.line) if self.file and self.line else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitCall(Event):
    """The program called sys.exit, exit or os._exit."""

    KIND: ClassVar[str] = "exit-call"

    how: str = ""
    status: int | float | bool | None = None  # None where it was no number, or was not given
    message: str | None = None  # a status that is text
    where: Place | None = None
    fit: int | None = None  # None, as epoch, outside any fit
    epoch: int | None = None
    steps: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalSent(Event):
    """The program sent a signal to itself."""

    KIND: ClassVar[str] = "signal-sent"

    signal: str = ""  # its name, SIGTERM
    how: str = ""  # os.kill, os.killpg, os.abort, signal.raise_signal
    where: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exiting(Event):
    """The interpreter reached its normal end."""

    KIND: ClassVar[str] = "exiting"

    steps: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)  # events that were not written any more, by kind
    uncaught: Raised | None = None  # what ended the program, without the fields about fit and steps
