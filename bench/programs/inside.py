"""One process, under `laststep run`, in which bare, recorded and TensorBoard steps take turns in short chunks.

For a bare chunk every patch of the recorder is taken back to the very object that stood there before; for a recorded
chunk they come back. Each arm has a model of its own, traced in its own state; all models are built anew every few
rounds, so that the luck of where one lies in memory averages out. `control` is bare a second time: what it shows is
noise. The supervisor goes on through all arms; what it takes is measured by itself, as its share of one core.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
from typing import Any

from laststep.recorder import patch, state

GENERATION = 4  # rounds between two rebuilds


class Switch:
    """The recorder's patches, all in or all out."""

    def __init__(self) -> None:
        self._recorder = state.current

    def on(self) -> None:
        for _, owner, name, _, new in patch._patches:
            setattr(owner, name, new)
        state.current = self._recorder

    def off(self) -> None:
        for _, owner, name, before, _ in reversed(patch._patches):
            if before is patch._MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
        state.current = None


def tensorboard(frequency: str | None) -> Any:
    """Keras's own callback; its default frequency is "epoch"."""
    import keras

    options = {} if frequency is None else {"update_freq": frequency}
    return lambda: [keras.callbacks.TensorBoard(tempfile.mkdtemp(prefix="board-", dir=FOLDER.name), **options)]


def arms_of(mode: str) -> dict[str, Any]:
    arms: dict[str, Any] = {"bare": list, "control": list, "laststep": list}
    if mode.startswith("fit"):
        arms |= {"tensorboard": tensorboard(None), "tensorboard-batch": tensorboard("batch")}
    return arms


def run_chunk(switch: Switch, arm: str, action: Any) -> Any:
    """Do something in an arm's own state, and leave the process recorded."""
    if arm == "laststep":
        return action()
    switch.off()
    try:
        return action()
    finally:
        switch.on()


def supervisor_share(seconds: float) -> float:
    """The part of one core that the supervisor takes while a step-less program waits: its CPU time, not a clock's."""
    before = cpu_seconds(os.getppid())
    time.sleep(seconds)
    return (cpu_seconds(os.getppid()) - before) / seconds


def cpu_seconds(pid: int) -> float:
    """To the nanosecond, all its threads."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as schedule:
            total += int(schedule.read().split()[0])
    return total / 1e9


def own_microseconds(chunk: Any, steps: int) -> float:
    """Microseconds a step inside laststep's own code, clocked at the guard through which all of it runs.

    Far less noisy than the difference of two step times; it leaves out what our code does to caches, and the
    frame of each wrapper.
    """
    from laststep.recorder.guard import guard
    from laststep.recorder.probes import keras_fit, stop_training

    spent = depth = 0
    clock = time.perf_counter_ns

    def timed(probe: str, action: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal spent, depth
        depth += 1
        began = clock()
        try:
            return guard(probe, action, *args, **kwargs)
        finally:
            depth -= 1
            if depth == 0:
                spent += clock() - began

    def clocked(number: int) -> tuple[int, int]:
        nonlocal spent
        spent, before = 0, state.current.count
        chunk(number)
        return spent, state.current.count - before

    users = (patch, keras_fit, stop_training)
    for module in users:
        module.guard = timed
    clocked(steps)
    # The difference of a long and a short chunk: what is done once a fit is not a step's.
    (short, few), (long, many) = clocked(steps), clocked(4 * steps)
    for module in users:
        module.guard = guard
    return (long - short) / 1000 / max(1, many - few)


def main(mode: str, milliseconds: float, rounds: int, steps: int) -> dict[str, Any]:
    import work

    switch = Switch()
    times = run_chunk(switch, "bare", lambda: work.calibrate(mode, milliseconds))
    arms = arms_of(mode)
    found: dict[str, Any] = {arm: {"median": [], "mean": [], "cpu": []} for arm in arms}
    chunks: dict[str, Any] = {}
    before = state.current.count
    for number in range(rounds):
        if number % GENERATION == 0:
            for arm, callbacks in arms.items():
                chunks[arm] = run_chunk(switch, arm, lambda c=callbacks: work.make_chunk(mode, times, c))
                run_chunk(switch, arm, lambda arm=arm: chunks[arm](work.SKIP + 3))
        for arm in random.sample(list(arms), len(arms)):
            for name, value in run_chunk(switch, arm, lambda arm=arm: chunks[arm](steps)).items():
                found[arm][name].append(value)
    recorded = state.current.count - before
    assert recorded >= rounds * steps, f"only {recorded} steps of {rounds * steps} were recorded"
    own = own_microseconds(chunks["laststep"], max(steps, 40))
    return {"times": times, "arms": found, "own_us": own, "supervisor_share": supervisor_share(6.0)}


if __name__ == "__main__":
    FOLDER = tempfile.TemporaryDirectory(prefix="laststep-bench-")
    assert state.current is not None, "run me under laststep run"
    result = main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    sys.stdout.write("\n" + json.dumps(result) + "\n")
