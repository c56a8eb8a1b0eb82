"""graphs-accumulating: models built in a loop, and functions traced again and again."""

from __future__ import annotations

import pytest

from laststep.record.event import Event
from laststep.record.run import Run
from laststep.record.sample import Sample
from laststep.rules.diagnose import diagnose
from tests.rules.leaked.runs import LINE, answered, census, epochs, samples, steps_of
from tests.written import written


def test_graphs() -> None:
    events = [*epochs(2, 10, 20, 30, 40), census(30, counts={"FuncGraph": 10}), census(50, counts={"FuncGraph": 60})]
    assert answered(samples(60, 10), events) == ["graphs-accumulating"]


def cause_of(found: list[Sample], events: list[Event]) -> str:
    ordered = sorted([written(0.0, "recorder", {}), *events], key=lambda event: event.time)
    findings = diagnose(Run("x", tuple(ordered), steps_of(found), found)).findings
    (cause,) = [finding.cause for finding in findings if finding.rule == "graphs-accumulating"]
    return cause


def graphs(t: float) -> Event:
    return census(t, counts={"FuncGraph": 10 + int(t)})


def test_models_that_are_built_in_a_loop() -> None:
    fields = {"epochs": 1, "new_model": True, "model_made_at": LINE}
    fits = [written(6.0 * n, "fit", {"id": n, **fields}, "recorder") for n in range(1, 9)]
    ends = [written(6.0 * n + 5, "fit-end", {"id": n}, "recorder") for n in range(1, 9)]
    events = [*fits, *ends, *epochs(*range(11, 59, 6)), graphs(30), graphs(50)]
    loop = "A new model is built in every iteration of the loop at train.py:31"
    assert cause_of(samples(60, 10), events) == f"{loop}; TensorFlow keeps the graphs of all of them."


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ([["step", "Literal[3]", "Literal[4]"]], "is retraced for each value of `step`"),
        ([], "is created and traced again and again"),
    ],
)
def test_a_function_that_is_traced_again_and_again(changed: list[list[str]], why: str) -> None:
    fields = {"name": "train", "function": LINE, "where": LINE, "changed": changed}
    traces = [written(float(n), "trace", {**fields, "number": n, "graphs": n, "step": 10 * n}) for n in range(1, 59)]
    assert cause_of(samples(60, 10), traces) == f"`train()` {why}, and TensorFlow keeps every graph."
