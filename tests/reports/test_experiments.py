"""The pages of replay, prove and tune, whole, from events as a side run writes them."""

from __future__ import annotations

import json

from laststep.analysis.experiments.prove import read_result
from laststep.analysis.experiments.tune import read_outcome
from laststep.record.decode import encode
from laststep.record.event import Event
from laststep.record.run import Run
from laststep.reports import prove, replay, tune
from tests.written import written

LINE = {"file": "/p/train.py", "line": 6, "text": "return x / tf.reduce_sum(x)"}
RUN = Run(id="20261116-1", events=(written(0.0, "run", {"command": ["python", "train.py"], "cwd": "/p"}),))
BAD = written(1.0, "bad-number", {"step": 8, "weights_of": 7})
ORIGIN = {
    **{"operation": "RealDiv", "layer": "ratio", "phase": "forward", "where": LINE, "nan": 8, "of": 256},
    **{"shape": [32, 8], "samples": [21], "features": list(range(8))},
    "inputs": [{"low": 0.0, "high": 0.9978, "there": 0.0}, {"low": 0.0, "high": 5.1, "there": None}],
}
REPLAYED = {"operations": 165, "rows": 32, "inputs": {}, "origin": ORIGIN, "edges": [], "raised": None}
REPLAY = """\
laststep replay · 20261116-1
python train.py

Replay of step 8
  Run eagerly on the CPU, 165 operations, with the weights of step 7.

First NaN or Inf                                                      train.py:6
  RealDiv in ratio produced 8 NaN (of 256 values) from finite inputs.
  return x / tf.reduce_sum(x)
  · input 1: from 0 to 0.9978, 0 at that position
  · input 2: from 0 to 5.1
  · sample 21 of the 32 in the batch
"""


def replayed(**fields: object) -> str:
    return replay.page(RUN, BAD, written(2.0, "replayed", {**REPLAYED, **fields}))


def test_the_operation_that_made_the_first_bad_number():
    assert replayed() == REPLAY


def test_a_gradient_is_named_by_its_operation():
    page = replayed(origin=ORIGIN | {"operation": "Mul", "gradient_of": "Sqrt", "layer": None, "inf": 1})
    assert "  The gradient of Sqrt (Mul) produced 8 NaN and 1 Inf (of 256 values) from\n  finite inputs.\n" in page


def test_bad_data_needs_no_operation():
    bad = {"nan": 1, "inf": 0, "of": 256, "samples": list(range(7)), "features": [3], "shape": [32, 8]}
    page = replayed(origin=None, inputs={"x": bad})
    assert "The data\n  x contains 1 NaN (of 256 values) before it enters the model: sample 0, 1, 2,\n" in page
    assert "  3, 4 … in the batch, feature 3.\n" in page
    assert "Not reproduced" not in page


def test_a_step_that_does_not_break_again():
    page = replayed(origin=None, edges=[{"operation": "Log", "where": LINE, "nearest": 1e-7}])
    assert "such as randomness." in " ".join(page.split())
    assert "  · Log at train.py:6: its smallest input was 1e-07\n" in page
    assert "newer weights" in replay.page(RUN, written(1.0, "bad-number", {"step": 8}), written(2.0, "replayed", {}))


def test_a_step_that_could_not_be_replayed():
    page = replay.page(RUN, BAD, written(2.0, "replayed", {"because": "the model has other weights now"}))
    assert page.endswith("\nThe step could not be replayed\n  the model has other weights now.\n")


def trainings(losses: list[float], skill: list[list[float]], **more: object) -> list[Event]:
    pair = [("as it is", [2.0, 2.0, 2.0, 2.0], [[0, 0.0], [100, 0.01]]), ("changed", losses, skill)]
    return [
        written(1.0, "trained", {"arm": arm, "round": n, "steps": 100, "losses": lost, "skill": known, **more})
        for n in range(2)
        for arm, lost, known in pair
    ]


PROVE = """\
laststep prove · 20261116-1
python train.py

Tried                                                                     a-rule
  A learning rate of 0.01 (train.py:6).
  Same initial weights, same batches, 2 rounds.

  as it is  loss ▁▁▁▁
            loss 2 → 2 after 100 steps
            skill 0.00 → 0.01
  changed   loss █▄▁▁
            loss 2 → 0.3 after 100 steps
            skill 0.00 → 0.90
  skill: 0 is as good as a constant prediction, 1 is perfect.

Result
  PROVEN
  Training works with the change and fails without it; its skill decides: 0.90
  in the end with the change, 0.01 without.
"""


def test_a_prove_result():
    states = [written(0.0, "side-run", {"state": state, "steps": 100}) for state in ("began", "trains")]
    side = Run(id="side", events=(*states, *trainings([2.0, 1.0, 0.5, 0.3], [[0, 0.0], [100, 0.9]])))
    result = read_result(side, "a-rule", "A learning rate of 0.01", False, False, True)
    assert prove.page(RUN, result, "train.py:6") == PROVE
    kept = json.loads(prove.as_json(RUN, result))
    assert kept == {"run": "20261116-1", **json.loads(json.dumps(encode(result)))}
    assert kept["rounds"][0][1] == {
        **{"steps": 100, "bad": None, "raised": "", "losses": [2.0, 1.0, 0.5, 0.3], "skill": [[0, 0.0], [100, 0.9]]}
    }


def turns(arm: str, seconds: float) -> list[Event]:
    return [written(1.0, "turn", {"arm": arm, "round": n, "steps": 10, "seconds": seconds}) for n in range(4)]


TUNE = """\
laststep tune · 20261116-1
python train.py

Now                                                                   train.py:6
  40.0 ms per step in fit, measured in 4 rounds of a side run.
  Without any wait for data: 40.0 → 9.09 to 11.0 ms per step, 3.64 to 4.40
  times as fast. No change of the input pipeline can gain more.
  In the side run callbacks are left out.

What each change would gain
  run the map in parallel                                             train.py:6
    40.0 → 18.2 to 22.0 ms per step, 1.82 to 2.20 times as fast
    + .map(load, num_parallel_calls=tf.data.AUTOTUNE)

Not tried
  · cache the data: it does not fit into memory
"""


def test_a_tuned_pipeline():
    code = ".map(load, num_parallel_calls=tf.data.AUTOTUNE)"
    side = Run(
        id="side",
        events=(
            written(0.0, "side-run", {"state": "began", "where": LINE, "data": "tf.data"}),
            written(0.0, "side-run", {"state": "trains", "notes": ["callbacks are left out"]}),
            written(0.1, "change", {"arm": "a", "says": "run the map in parallel", "where": LINE, "code": code}),
            written(0.1, "change", {"arm": "no wait for data", "says": "bound"}),
            written(0.1, "change", {"says": "cache the data", "because": "it does not fit into memory"}),
            *(
                event
                for arm, took in (("now", 0.4), ("a", 0.2), ("no wait for data", 0.1))
                for event in turns(arm, took)
            ),
        ),
    )
    outcome = read_outcome(side)
    assert tune.page(outcome, RUN.id, RUN.command, RUN.cwd) == TUNE
    fields = json.loads(tune.as_json(outcome, RUN.id, RUN.command))
    assert (fields["fit"], fields["changes"][0]["verdict"]) == ({"file": "/p/train.py", "line": 6}, "gain")
    assert fields["not_tried"] == [
        {"change": "cache the data", "where": None, "because": "it does not fit into memory"}
    ]
