"""The program's own names and ways, so that a remedy is about this program: fit or a loop, what it trains on."""

from __future__ import annotations

import re

from laststep.analysis.finding import Remedy
from laststep.analysis.rewrite import argument_of, assigned_name
from laststep.record.events.training import TrainingData
from laststep.record.place import Place
from laststep.record.run import Run


def trains_by_hand(run: Run) -> bool:
    """A loop of the program's own, without fit. A log does not tell: then fit is assumed."""
    return run.fit is None and not run.is_log


def name_of_model(run: Run) -> str:
    """What the program calls fit on."""
    where = run.fit.began.where if run.fit is not None else None
    found = re.search(r"([\w.]+)\.fit\(", where.text) if where is not None else None
    return found[1] if found else "model"


def name_of_inputs(run: Run) -> str | None:
    """What the program calls the inputs, or the dataset, that it gives to fit."""
    return _argument(run, "x", 0)


def name_of_targets(run: Run) -> str | None:
    """What the program calls the targets that it gives to fit."""
    return _argument(run, "y", 1)


def names_of_arrays(run: Run) -> tuple[str, str] | None:
    """The two arrays that fit is given, where both have names."""
    x, y = name_of_inputs(run), name_of_targets(run)
    return (x, y) if x and y and is_array(_data(run)) else None


def is_array(data: TrainingData) -> bool:
    return data.type.endswith("ndarray")


def is_dataset(data: TrainingData) -> bool:
    """A tf.data.Dataset; not a generator, an iterator or a PyDataset."""
    known = data.element_spec or data.stages or (data.type.startswith("tensorflow") and "Dataset" in data.type)
    return bool(known) and "Iterator" not in data.type


def is_generator(data: TrainingData) -> bool:
    return "generator" in data.type


def name_of_data(run: Run, where: Place | None) -> str | None:
    """The variable that holds what fit trains on: set at that line, or passed to fit."""
    is_call = run.fit is not None and where == run.fit.began.where
    return (assigned_name(where.text) if where is not None and not is_call else None) or name_of_inputs(run)


def backup(run: Run) -> Remedy:
    """Let the next run go on: fit has a callback for that, a loop saves checkpoints itself."""
    does = "Let the next run continue where this one ended"
    if run.fit is None:
        return Remedy(f"{does}: save checkpoints, and restore the last one at the start")
    module = "tf_keras" if run.fit.began.backend == "tf_keras" else "keras"
    change = f'{module}.callbacks.BackupAndRestore("backup")'
    if not run.fit.began.callbacks:
        return Remedy(does, f"callbacks=[{change}]", run.fit.began.where, safe=True)
    return Remedy(f"{does}: add this to its callbacks", change, run.fit.began.where, safe=True)


def _argument(run: Run, name: str, position: int) -> str | None:
    where = run.fit.began.where if run.fit is not None else None
    given = argument_of(where.text, "fit", name, position) if where is not None else None
    return given if given is not None and given.isidentifier() else None


def _data(run: Run) -> TrainingData:
    return run.fit.began.data if run.fit is not None else TrainingData()
