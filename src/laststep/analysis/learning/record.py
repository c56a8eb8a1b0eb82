"""What the events about a step's numbers hold, field by field."""

from __future__ import annotations

from typing import Any

from laststep.record import torn
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.record.torn import Forms, each, rows, tables, tidied, whole


def _sizes(value: Any) -> tuple[int | None, ...]:
    return tuple(size if isinstance(size, int) else None for size in torn.entries(value))


TENSOR: Forms = {
    **each(torn.figure, "low", "high", "mean", "std", "zeros", "values"),
    **each(torn.count, "nan", "inf", "of"),
    **each(torn.figures, "column_means", "column_stds", "distinct", "row_sums"),
    **each(torn.entries, "features", "samples"),
    "shape": torn.shape,
}
LAYER = {"weights": torn.names, "untracked": torn.names, "where": torn.place}
FORMS: dict[str, Forms] = {
    "gradients": {
        "made_at": lambda value: [torn.place(part) for part in torn.entries(value)],
        **each(torn.names, "missing") | each(torn.place, "where", "cut_at") | each(torn.table, "broadcast"),
        **each(rows({"name": str, "shape": torn.shape}), "variables", "unasked"),
        "losses": rows(each(_sizes, "y_shape", "y_pred_shape")),
        "model": whole({"layers": rows(LAYER), "outputs": torn.names}),
        **{"optimizer": whole({"where": torn.place}), "risky": rows({"where": torn.place})},
    },
    "numbers": {
        **each(torn.count, "step", "since") | each(torn.figure, "loss", "rate") | each(torn.entries, "broken"),
        **each(torn.figures_by_name, "grads", "weights", "moved", "dead"),
    },
    "batch": each(torn.count, "batches") | each(tables(TENSOR), "tensors"),
    "bad-number": {
        **each(torn.count, "step") | each(torn.figure, "loss") | each(torn.entries, "grads", "finite"),
        **each(tables(TENSOR), "inputs", "data") | each(torn.figures_by_name, "weights"),
    },
    "dependence": each(torn.figure, "p") | each(torn.count, "rows"),
}


def read(run: Run, kind: str) -> list[Event]:
    """The events of a kind, each field there and in its form; only a number that is not known is left out."""
    return [tidied(event, {"site": str, **FORMS[kind]}) for event in run.all(kind)]


def metrics_of(epoch: Event) -> dict[str, float]:
    return torn.figures_by_name(epoch.get("metrics"))
