"""A checkpoint, saved model or backup that cannot be read: which one, and what to do without it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from laststep.analysis.finding import Remedy
from laststep.analysis.messages import Message
from laststep.record.events.process import Raised
from laststep.record.events.shared import Frame
from laststep.record.place import Place
from laststep.record.run import Run

_NAMED = re.compile(
    r"TensorBundle at (?P<bundle>\S+)|Unable to (?:read|open table) file \(?(?P<table>[^\s():]+)|"
    r"filepath=(?P<keras>\S+?\.keras)\b"
)
# Words that only readers of checkpoints use, and functions that read one, in a traceback on the console.
_READER = re.compile(r"TensorBundle|sstable|RestoreV2|restore_v2|save/Restore|Unable to open table file")
_FUNCTIONS = frozenset({"load_weights", "load_model", "restore", "NewCheckpointReader", "load_model_from_hdf5"})
_LIBRARY = re.compile(r"(?:keras|tensorflow)[/\\](?!.*[/\\]data[/\\])")
# The user's own line: all that is left where Keras has removed its own frames.
_CALL = re.compile(r"\b(?:load_weights|load_model|restore)\(\s*(?:['\"](?P<file>[^'\"]+)['\"])?")
_PART = re.compile(r"\.(?:index|data-\d+-of-\d+)$")


@dataclass(frozen=True)
class Checkpoint:
    """What was being read: its name where that is known, and the backup's folder if it is one."""

    file: str
    backup: str = ""
    where: Place | None = None

    @property
    def cause(self) -> str:
        if self.backup:
            return f"The backup in {self.backup} is damaged: {self.file} cannot be read."
        return f"The checkpoint {self.file or 'that was being loaded'} is damaged or incomplete."

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        if not self.backup:
            earlier = f'tf.train.get_checkpoint_state("{os.path.dirname(self.file) or "."}").all_model_checkpoint_paths'
            is_keras = self.file.endswith((".keras", ".h5", ".hdf5"))
            return (
                Remedy("Restore an earlier one, if there is one", None if is_keras else earlier),
                Remedy("Or train from the beginning without it; it cannot be repaired"),
            )
        delete = f"rm -r {shlex.quote(self.backup)}"
        again = Remedy("Delete the backup: training then starts at the first epoch", delete)
        if self.file.endswith(".json"):
            weights = f'model.load_weights("{self.backup}/latest.weights.h5")'
            return (
                Remedy("The weights beside it may be intact: load them yourself, then delete the backup", weights),
                again,
            )
        return (again,)


def checkpoint_in(run: Run, message: Message) -> Checkpoint | None:
    """None where the file that is damaged holds data."""
    error, text = message.event, message.found.string
    if error is not None and (loaded := _recorded(run, error)) is not None:
        return loaded
    named = _NAMED.search(text)
    called = _CALL.search(error.where.text) if error is not None and error.where is not None else None
    if not (named or called or _READER.search(text) or (error is not None and _is_read_in(error.frames))):
        return None
    file = next((part for part in named.groups() if part), "") if named else ""
    return Checkpoint(_whole(file or (called["file"] if called and called["file"] else "")))


def _recorded(run: Run, error: Raised) -> Checkpoint | None:
    """As the recorder saw it being read; the same error is recorded without it where it left the program."""
    for event in run.all(Raised):
        if event.message == error.message and event.loading is not None:
            made_at = event.callback.made_at if event.callback is not None else None
            return Checkpoint(_whole(event.loading.file), event.loading.backup, made_at)
    return None


def _whole(file: str) -> str:
    """A TensorFlow checkpoint goes by the prefix that its files share."""
    return _PART.sub("", file)


def _is_read_in(frames: Iterable[Frame]) -> bool:
    return any(frame.function.rpartition(".")[2] in _FUNCTIONS and _LIBRARY.search(frame.file) for frame in frames)
