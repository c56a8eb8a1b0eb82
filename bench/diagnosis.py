"""Seconds from a record to the answer, by how much there is in it: 10, 1,000 and 100,000 fits, epochs or failed fits.

The record is built in memory, so that the bounds of the files do not hide how the rules themselves grow.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from figures import Row

from laststep.record.events import decode_event
from laststep.record.run import Run
from laststep.record.steps import Step
from laststep.reports import json, terminal
from laststep.rules.diagnose import diagnose

SIZES = (10, 1_000, 100_000)
TARGET_SECONDS, TARGET_GROWTH = 5.0, 2.0
WHERE = {"file": "/p/train.py", "line": 3, "text": "model.fit(x, y)"}
SOURCE = "recorder.1"
Part = list[tuple[str, dict[str, Any]]]


def _fit(number: int, epochs: int) -> dict[str, Any]:
    optimizer = {"class": "SGD", "learning_rate": 0.5}
    return {"id": number, "function": "fit", "epochs": epochs, "steps": 8, "where": WHERE, "optimizer": optimizer}


def _epoch(fit: int, epoch: int) -> dict[str, Any]:
    return {"fit": fit, "epoch": epoch, "batches": 8, "metrics": {"loss": 1.0 + epoch % 7 / 10, "val_loss": 1.0}}


def _look(step: int) -> dict[str, Any]:
    return {"site": 1, "step": step, "loss": 1.0, "rate": 0.5, "grads": {"w": 1.0}, "weights": {"w": 1.0}}


def _fits(count: int) -> Part:
    whole: Part = [("gradients", {"site": 1, "variables": [{"name": "w", "shape": [4]}], "where": WHERE})]
    for number in range(1, count + 1):
        whole += [("fit", _fit(number, 1)), ("numbers", _look(number)), ("epoch", _epoch(number, 0))]
        whole.append(("fit-end", {"id": number}))
    return whole


def _epochs(count: int) -> Part:
    whole: Part = [("gradients", {"site": 1, "variables": [{"name": "w", "shape": [4]}], "where": WHERE})]
    whole.append(("fit", _fit(1, count)))
    for number in range(count):
        whole += [("numbers", _look(number + 1)), ("validation", {"fit": 1, "asked": 8, "batches": 8})]
        whole.append(("epoch", _epoch(1, number)))
    return [*whole, ("fit-end", {"id": 1})]


def _failures(count: int) -> Part:
    whole: Part = []
    frames = [{"file": "/p/train.py", "line": 3, "function": "<module>", "users": True}]
    raised = {"type": "ValueError", "message": "no room", "left": "fit", "frames": frames, "bases": ["ValueError"]}
    for number in range(1, count + 1):
        whole += [("fit", _fit(number, 1)), ("exception", raised | {"fit": number})]
        whole.append(("warning", {"category": "UserWarning", "message": "Your input ran out of data"}))
    return whole


KINDS: dict[str, Callable[[int], Part]] = {"fits": _fits, "epochs": _epochs, "failed fits": _failures}


def _run(part: Part, steps: int) -> Run:
    ends: Part = [("run", {"command": ["python", "train.py"], "cwd": "/p", "host": "h"}), ("recorder", {})]
    recorded = [*ends, *part, ("end", {"code": 1, "signal": None, "seconds": 60.0})]
    events = [
        decode_event(kind, data, time=1000.0 + n * 1e-3, source=SOURCE) for n, (kind, data) in enumerate(recorded)
    ]
    done = [Step(n, 1000.0 + n * 1e-3, 1e-3, 1e-4, 1.0, 0.5, 0, n, 1) for n in range(1, min(steps, 65_536) + 1)]
    return Run(id="bench", events=tuple(event for event in events if event is not None), steps=done)


def measure(quick: bool) -> dict[str, Any]:
    diagnose(_run(_fits(10), 10))  # the rules are imported once
    found: dict[str, Any] = {}
    for name, make in KINDS.items():
        found[name] = {str(size): _seconds(make, size) for size in SIZES if not quick or size < SIZES[-1]}
    return found


def _seconds(make: Callable[[int], Part], size: int) -> float:
    run = _run(make(size), size)
    began = time.process_time()
    diagnosis = diagnose(run)
    terminal.page(diagnosis, verbose=True)
    json.page(diagnosis)
    return time.process_time() - began


def rows(found: dict[str, Any]) -> list[Row]:
    table = []
    for name, by_size in found.items():
        sizes = sorted(map(int, by_size))
        small, large = sizes[-2:]
        seconds = by_size[str(large)]
        growth = seconds / by_size[str(small)] / (large / small)
        table.append(
            Row(
                f"answer about {large:,} {name}",
                f"{seconds:.2f} s",
                ", ".join(f"{size:,}: {by_size[str(size)]:.3f} s" for size in sizes),
                f"≤ {TARGET_SECONDS:g} s, each costs at most {TARGET_GROWTH:g} times what it costs among {small:,}",
                seconds <= TARGET_SECONDS and growth <= TARGET_GROWTH,
            )
        )
    return table
