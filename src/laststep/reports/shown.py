"""A diagnosis that is displayed as its page, in a notebook's cell and when it is printed."""

from __future__ import annotations

import dataclasses
from typing import Any

from laststep.analysis.finding import Diagnosis
from laststep.reports.terminal import page


class ShownDiagnosis(Diagnosis):
    """What `laststep.why()` returns."""

    def __str__(self) -> str:
        return page(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def shown(diagnosis: Diagnosis) -> ShownDiagnosis:
    return ShownDiagnosis(**{each.name: getattr(diagnosis, each.name) for each in dataclasses.fields(diagnosis)})
