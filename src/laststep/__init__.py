"""laststep: the flight recorder and the doctor for TensorFlow and Keras training."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from laststep.analysis.finding import Diagnosis

__version__ = "0.1.0"
__all__ = ["start", "step", "why"]

# This module is imported inside the training process: what it imports, it imports when it is called.


def start(directory: str | None = None) -> str:
    """Record this process from now on, e.g. in a notebook; returns the run id."""
    from laststep.recorder.library import start_here

    return start_here(directory)


def step(loss: float | None = None) -> None:
    """Report one training step, in a loop that laststep does not recognize by itself."""
    from laststep.recorder.library import step_done

    step_done(loss)


def why(run: str | None = None) -> Diagnosis:
    """The diagnosis of the run that is recorded here, or of the named one; print it to read the page."""
    from laststep.commands.why import diagnose_here
    from laststep.reports.shown import shown

    return shown(diagnose_here(run))
