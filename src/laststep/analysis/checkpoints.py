"""A checkpoint, a saved model or a backup that cannot be read: which one, and what can be done without it."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import Any

from laststep.analysis.finding import Place, Remedy
from laststep.analysis.messages import Message
from laststep.record.run import Run

_NAMED = re.compile(
    r"TensorBundle at (?P<bundle>\S+)|Unable to (?:read|open table) file \(?(?P<table>[^\s():]+)|"
    r"filepath=(?P<keras>\S+?\.keras)\b"
)
# Words that only the readers of checkpoints use; and functions that read one, in a traceback on the console.
_READER = re.compile(r"TensorBundle|sstable|RestoreV2|restore_v2|save/Restore|Unable to open table file")
_FUNCTIONS = frozenset({"load_weights", "load_model", "restore", "NewCheckpointReader", "load_model_from_hdf5"})
_LIBRARY = re.compile(r"(?:keras|tensorflow)[/\\](?!.*[/\\]data[/\\])")
# The user's own line, which is all that is left of it where Keras has cut its own frames out.
_CALL = re.compile(r"\b(?:load_weights|load_model|restore)\(\s*(?:['\"](?P<file>[^'\"]+)['\"])?")
_PART = re.compile(r"\.(?:index|data-\d+-of-\d+)$")


@dataclass(frozen=True)
class Checkpoint:
    """What was being read: its name where it is known, and the backup's folder if it is one."""

    file: str
    backup: str = ""
    where: Place | None = None

    @property
    def cause(self) -> str:
        if self.backup:
            return f"The backup in {self.backup} is damaged: {self.file} cannot be read."
        return f"The checkpoint {self.file or 'that was to be loaded'} is damaged, or was never written to its end."

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        if not self.backup:
            earlier = "tf.train.get_checkpoint_state(folder).all_model_checkpoint_paths"
            is_keras = self.file.endswith((".keras", ".h5", ".hdf5"))
            return (
                Remedy("Restore an earlier one, if there is any", None if is_keras else earlier),
                Remedy("Or leave it out, and train from the beginning; its content cannot be repaired"),
            )
        delete = f"rm -r {shlex.quote(self.backup)}"
        again = Remedy("Delete the backup: the training then begins with the first epoch", delete)
        if self.file.endswith(".json"):
            weights = f'model.load_weights("{self.backup}/latest.weights.h5")'
            return (
                Remedy("The weights beside it may be whole: load them yourself, then delete the backup", weights),
                again,
            )
        return (again,)


def checkpoint_in(run: Run, message: Message) -> Checkpoint | None:
    """None where the file that is damaged holds data."""
    event, text = message.event, message.found.string
    same = [each for each in run.all("exception") if event is not None and each.get("message") == event.get("message")]
    loading = next((each for each in same if each.get("loading")), None)
    if loading is not None:
        read, callback = loading.get("loading"), loading.get("callback") or {}
        return Checkpoint(_whole(str(read.get("file"))), str(read.get("backup") or ""), callback.get("made_at"))
    named, frames = _NAMED.search(text), event.get("frames") if event is not None else None
    called = _CALL.search(str((message.where or {}).get("text") or ""))
    if not (named or called or _READER.search(text) or _is_read_in(frames)):
        return None
    found = next((part for part in named.groups() if part), "") if named else ""
    return Checkpoint(_whole(found or (called["file"] if called and called["file"] else "")))


def _whole(file: str) -> str:
    """A TensorFlow checkpoint is called by the name that its files share."""
    return _PART.sub("", file)


def _is_read_in(frames: Any) -> bool:
    return any(
        str(frame.get("function")).rpartition(".")[2] in _FUNCTIONS and _LIBRARY.search(str(frame.get("file")))
        for frame in frames or []
    )
