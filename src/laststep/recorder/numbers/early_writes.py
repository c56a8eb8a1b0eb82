"""Whether a step may write weights while it still waits for data: they must then be read without a wait too."""

from __future__ import annotations

from typing import Any

from laststep.recorder.numbers.roles import KERAS_MODULES

NEXT_BATCH_OP = "IteratorGetNext"


def may_write_early(graph: Any, model: Any, optimizer: Any) -> bool:
    """Only if the step takes its data itself: data that is an argument is there before the step begins.

    Keras's own train_step with an optimizer of Keras's own computes each new weight from gradients. Weight decay does
    not, nor does the reset of accumulated gradients; and what a program writes itself is unknown.
    """
    return _takes_its_data(graph) and not (_is_kerass(type(model), "train_step") and _needs_gradients(optimizer))


def _takes_its_data(graph: Any) -> bool:
    while graph is not None:
        if any(op.type == NEXT_BATCH_OP for op in graph.get_operations()):
            return True
        graph = getattr(graph, "outer_graph", None)
    return False


def _needs_gradients(optimizer: Any) -> bool:
    inner = getattr(optimizer, "inner_optimizer", None) or optimizer
    if not type(inner).__module__.startswith(KERAS_MODULES):
        return False
    return not getattr(inner, "weight_decay", None) and not getattr(inner, "gradient_accumulation_steps", None)


def _is_kerass(kind: type, name: str) -> bool:
    return str(getattr(getattr(kind, name, None), "__module__", "")).startswith(KERAS_MODULES)
