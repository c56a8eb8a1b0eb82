"""The figures of a run, from made-up records: what is known, what is not, and what would be a lie."""

from __future__ import annotations

import math
from typing import Any

import pytest

from laststep.record.event import Event
from laststep.record.follow import Live
from laststep.record.run import Run
from laststep.record.sample import Sample, decode_sample
from laststep.record.steps import Beat, Now, Step
from laststep.reports.figures import View, view_of
from laststep.reports.lines import line
from laststep.reports.live import screen
from laststep.reports.sheet import Sheet
from laststep.rules.diagnose import diagnose
from tests.written import written

GB = 10**9


def step(number: int, at: float, took: float = 0.1, loss: float = 1.0, epoch: int = 0, batch: int = 0) -> Step:
    return Step(number, at, took, math.nan, loss, 0.001, epoch, batch, 1)


def steps(count: int, begin: float = 10.0, per_epoch: int = 50, **more: Any) -> list[Step]:
    return [
        step(n + 1, begin + 0.1 * n, epoch=n // per_epoch, batch=n % per_epoch, **{"loss": 1.0 / (n + 1), **more})
        for n in range(count)
    ]


def sample(at: float, **more: Any) -> Sample:
    fields = {"t": at, "rss": 2 * GB, "host": {"total": 16 * GB, "available": 12 * GB}, "cpu": 1.5, **more}
    return decode_sample(fields)


def inside(at: float, step: int, waited: float, pulse: int = 0, waiting: float = 0.0) -> dict[str, Any]:
    answer = {"phase": "step", "number": 1, "time": at, "step": step, "pulse": pulse}
    return {**answer, "waited": waited, "waiting": waiting}


def made(*events: Event, at: float = 100.0, live: Live = Live(), asked: int | None = 50, **more: Any) -> View:  # noqa: B008
    first = (
        written(0.0, "run", {"command": ["/usr/bin/python", "train.py"], "cwd": "/x"}),
        written(0.1, "recorder", {"pid": 1}, "recorder"),
        written(0.2, "limits", {"cores": 4.0}),
        written(5.0, "fit", {"id": 1, "epochs": 10, "steps": asked, "initial_epoch": 0}, "recorder"),
    )
    run = Run(id="r", events=(*first, *events), **{"alive": True, **more})
    return view_of(diagnose(run), live, at)


def epoch(number: int, at: float, seconds: float = 8.0, **metrics: float) -> Event:
    data = {"fit": 1, "epoch": number, "batches": 50, "seconds": seconds, "metrics": metrics}
    return written(at, "epoch", data, "recorder")


def test_progress_and_the_time_left_in_the_first_epoch():
    view = made(steps=steps(20), at=12.0)
    assert (view.command, view.epoch, view.epochs, view.batch, view.batches) == ("python train.py", 1, 10, 20, 50)
    assert view.done == pytest.approx(20 / 500)
    assert view.left == pytest.approx(0.1 * 480, rel=0.01)
    assert view.left_at_least


def test_the_time_left_counts_validation_once_an_epoch_is_complete():
    view = made(epoch(0, 18.0, 8.0, loss=0.5, val_loss=0.6), steps=steps(70), at=21.0)
    assert (view.epoch, view.batch, view.metrics_epoch) == (2, 20, 1)
    assert view.left == pytest.approx(9 * 8.0 - 3.0)
    assert not view.left_at_least
    assert dict(view.metrics) == {"loss": "0.5", "val_loss": "0.6"}


def test_nobody_knows_the_time_left_while_nothing_moves():
    assert made(steps=steps(20), at=30.0).left is None


def test_a_program_that_does_not_get_to_its_end():
    error = written(90.0, "exception", {"left": "program", "type": "builtins.ValueError", "bases": []}, "recorder")
    assert made(error, steps=steps(20)).phase == "exiting after ValueError for 10 s"
    assert made(written(99.5, "exiting", {}, "recorder"), steps=steps(20)).phase == "exiting"


def test_a_fit_that_is_over_has_no_time_left():
    over = written(90.0, "fit-end", {"id": 1, "epoch": 0, "stop": True}, "recorder")
    assert made(epoch(0, 80.0), over, steps=steps(50)).left is None


def test_batches_are_learned_from_the_first_epoch_where_the_data_does_not_say():
    assert made(steps=steps(20), asked=None).done is None
    view = made(epoch(0, 18.0), steps=steps(70), asked=None, at=21.0)
    assert (view.batch, view.batches) == (20, 50)


def test_steps_that_are_newer_than_the_last_reading():
    newest = step(200, 99.0, epoch=3, batch=49)
    view = made(steps=steps(70), live=Live(Now("step", 200, 98.0), Beat(9, 99.5, 200, 0, 0.0, 0.0), newest))
    assert (view.step, view.epoch, view.batch, view.phase) == (200, 4, 50, "training")


def test_step_time_now_and_median():
    slow = [step(n, 20.0 + n, 0.4, batch=n) for n in range(101, 107)]
    view = made(steps=[*steps(100), *slow], asked=500)
    assert view.step_now == pytest.approx(0.4)
    assert view.step_median == pytest.approx(0.1)
    assert made(steps=steps(2)).step_now is None


def test_the_share_of_waiting_is_that_of_the_last_seconds():
    answer = [sample(at, inside=inside(at, int(at), 5.0 + max(0.0, at - 60) * 0.5)) for at in map(float, range(100))]
    view = made(steps=steps(50), samples=answer)
    assert view.wait_share == pytest.approx(0.5, abs=0.02)
    assert 15 < view.wait_seconds <= 20


def test_a_wait_that_goes_on_counts():
    answer = [sample(at, inside=inside(at, 7, 5.0, waiting=at - 80)) for at in map(float, range(80, 100))]
    beat = Beat(9, 99.5, 7, 0, 5.0, 19.5)
    view = made(steps=steps(7), samples=answer, live=Live(Now("step", 7, 80.0), beat, None))
    assert view.wait_share == pytest.approx(1.0)
    assert view.phase == "training, waiting for data for 20 s"


def test_a_wait_says_how_often_the_pipeline_called_python_since_the_last_step():
    before = sample(80.0, inside=inside(80.0, 6, 5.0) | {"calls": 1_000})
    after = sample(90.0, inside=inside(90.0, 7, 5.0) | {"calls": 3_000})
    live = Live(Now("step", 7, 80.0), Beat(9, 99.5, 7, 0, 5.0, 19.5), None, 4_211)
    told = made(steps=steps(7), samples=[before, after], live=live).phase
    assert told == "training, waiting for data for 20 s (3,211 calls of its Python so far)"


def test_where_no_wait_was_ever_measured_it_is_not_known():
    answer = [sample(at, inside=inside(at, int(at), 0.0)) for at in map(float, range(80, 100))]
    assert made(steps=steps(50), samples=answer).wait_share is None
    assert made(steps=steps(50)).wait_share is None


def test_stuck_is_what_the_supervisor_says_and_only_until_it_moves():
    stall = written(70.0, "stall", {})
    assert made(steps=steps(50)).stuck is None
    assert made(stall, steps=steps(50)).stuck == pytest.approx(100 - 14.9)
    assert made(stall, written(80.0, "moving-again", {}), steps=steps(50)).stuck is None
    assert made(stall, steps=steps(50), live=Live(None, None, step(51, 75.0))).stuck is None


def test_a_long_stall_is_told_in_full():
    answer = [sample(10.0 + at, inside=inside(10.0 + at, min(50, at), 0.0)) for at in range(5000)]
    view = made(written(700.0, "stall", {}), steps=steps(50), samples=answer, at=5010.0)
    assert view.stuck == pytest.approx(4950, abs=2)


def test_signs_of_life_that_are_no_steps_count():
    answer = [sample(at, inside=inside(at, 50, 0.0, pulse=int(at))) for at in map(float, range(60, 95))]
    assert made(written(50.0, "stall", {}), steps=steps(50), samples=answer).stuck is None


def test_a_heart_that_stopped_is_told():
    view = made(steps=steps(50), live=Live(Now("step", 50, 10.0), Beat(9, 60.0, 50, 0, 0.0, 0.0), None))
    assert "no heartbeat for 40 s" in view.phase


@pytest.mark.parametrize(
    ("phase", "words"), [("validation", "in validation"), ("trace", "tracing"), ("save", "saving"), ("x", "own code")]
)
def test_what_it_does_now(phase, words):
    view = made(steps=steps(5), live=Live(Now(phase, 5, 95.0), Beat(9, 99.5, 5, 0, 0.0, 0.0), None))
    assert words in view.phase
    assert view.phase.endswith("for 5.0 s")


def test_loss_that_is_no_number_any_more():
    gone = [step(n, 20.0 + n, loss=math.nan, batch=n) for n in range(51, 200)]
    assert made(steps=[*steps(50), *gone], asked=500).loss == "not a number since step 51; before that 0.02"
    assert made(steps=steps(50, loss=math.nan)).loss is None
    by_epoch = made(epoch(0, 18.0, loss=0.5), epoch(1, 28.0, loss=0.25), steps=steps(120, loss=math.nan))
    assert by_epoch.loss == "0.25 (epoch)"


def test_memory_of_the_limit_or_else_of_the_machine():
    view = made(samples=[sample(99.0)])
    assert (view.memory, view.taken, view.limit, view.limit_of) == (2 * GB, 4 * GB, 16 * GB, "machine")
    view = made(samples=[sample(99.0, group={"used": 3 * GB, "limit": 4 * GB})])
    assert (view.taken, view.limit, view.limit_of) == (3 * GB, 4 * GB, "limit")
    assert (view.cpu, view.cores) == (1.5, 4.0)


def test_a_process_that_is_gone_does_not_hold_0_bytes():
    assert made(samples=[sample(98.0), sample(99.0, rss=0)]).memory == 2 * GB


def test_what_was_measured_long_ago_is_not_told_as_now():
    """The supervisor was killed and the training goes on."""
    view = made(samples=[sample(60.0, gpus=[{"gpu": 0, "busy": 87}])])
    assert (view.cpu, view.gpus) == (None, ())
    assert "2.0 GB for this program · measured 40 s ago" in "\n".join(screen(view, Sheet()))
    assert " memory=- of_machine=- cpu=- " in line(view, Sheet())


def test_growth_is_that_of_training():
    answer = [sample(at, rss=GB + 10**7 * at) for at in map(float, range(100))]
    view = made(steps=steps(50), samples=answer)
    assert view.growth == pytest.approx(10**7 * view.growth_seconds, rel=0.1)
    assert view.growth_seconds == pytest.approx(79, abs=1)
    assert made(samples=answer).growth is None


FORECAST = {
    **{"seconds": 900.0, "soonest": 700.0, "latest": 1200.0, "step": 12345, "way": 0.4, "per_step": 3_100_000},
    **{"limit": 8 * GB, "whose": "the control group", "keeps": "history"},
    "where": {"file": "/x/train.py", "line": 41},
}


def test_a_forecast_is_told_as_of_now():
    view = made(written(40.0, "forecast", FORECAST), at=100.0)
    assert view.forecast.startswith("memory runs out in about 14 min, at step ≈ 12,345 (")
    shown = " ".join("\n".join(screen(view, Sheet(80, 40))).split())
    assert f" {view.forecast} " in shown
    assert "history (train.py:41)" in shown


def test_a_forecast_whose_time_is_over_is_not_shown():
    assert made(written(40.0, "forecast", FORECAST), at=1230.0).forecast != ""
    assert made(written(40.0, "forecast", FORECAST), at=1250.0).forecast == ""
    assert made().forecast == ""


def test_gpus_are_shown_where_they_are():
    gpus = [{"gpu": 0, "busy": 87, "used": GB, "total": 80 * GB, "celsius": 61}, {"gpu": 1, "error": "lost"}]
    view = made(samples=[sample(95.0, gpus=gpus), sample(99.0)])
    assert [(gpu.number, gpu.busy) for gpu in view.gpus] == [(0, 87), (1, None)]


def test_a_loop_of_its_own_has_steps_and_no_epochs():
    own = [step(n, 10.0 + n / 10)._replace(fit=0, epoch=-1, batch=-1) for n in range(1, 30)]
    run = Run(id="r", events=(written(0.0, "run", {}), written(0.1, "recorder", {})), steps=own, alive=True)
    view = view_of(diagnose(run), Live(), 14.0)
    assert (view.step, view.epoch, view.done, view.phase) == (29, None, None, "training")
    assert view.step_now == pytest.approx(0.1)


def test_a_run_that_is_over_is_told_as_of_its_end():
    end = written(40.0, "end", {"code": 0, "signal": None, "seconds": 40.0})
    over = written(39.0, "fit-end", {"id": 1}, "recorder")
    view = made(epoch(9, 38.0), over, end, steps=steps(50), alive=False, at=9e9)
    assert (view.at, view.seconds, view.left, view.stuck) == (40.0, 40.0, None, None)
    assert view.end.startswith("The program finished")


@pytest.mark.parametrize("value", [None, "x", -1, [], {}, math.nan, math.inf, True, 10**400])
def test_a_damaged_record_gives_figures_too(value):
    torn = {"rss": value, "cpu": value, "group": value}
    beat = {"time": value, "waited": value}
    data = {"fit": 1, "epoch": 0, "seconds": value, "metrics": value}
    view = made(
        written(50.0, "epoch", data, "recorder"),
        written(60.0, "forecast", FORECAST | {"seconds": value, "limit": value, "step": value}),
        written(61.0, "limits", {"cores": value}),
        steps=steps(60, loss=math.nan),
        samples=[
            sample(99.0, **torn, inside=value, gpus=[value]),
            sample(99.0, **torn, inside=beat, host=value, gpus=value),
        ],
    )
    assert screen(view, Sheet())
    assert line(view, Sheet())
