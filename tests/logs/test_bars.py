"""Keras's bars, however they reached the file, and the counters of other programs."""

from __future__ import annotations

import math

import pytest

from laststep.analysis.finding import Diagnosis
from laststep.logs.bars import metrics_in
from laststep.record.events.logs import Progress
from laststep.record.events.training import Epoch
from laststep.record.run import Fit
from tests.logs.printed import (
    ESC,
    ONE_FIT,
    OPEN_EPOCH,
    RAN_OUT_2,
    RAN_OUT_3,
    TRACEBACK,
    answer,
    bar2,
    bar3,
    cause,
    epochs,
    story,
)

FOUR = "loss: 0.2500 - accuracy: 0.7500"


def _epochs_of(*bars: str) -> str:
    """Two epochs, each drawn by these bars."""
    drawn = "".join(bars)
    return f"Epoch 1/2\n{drawn}Epoch 2/2\n{drawn}"


DRAWN = {
    "keras 2, carriage returns": _epochs_of(
        *(bar2(done, 4) + "\r" for done in (1, 2, 3)), bar2(4, 4, FOUR, "1s 250ms/step") + "\n"
    ),
    "keras 2, carriage return first": _epochs_of(
        *("\r" + bar2(done, 4) for done in (1, 2, 3)), "\r" + bar2(4, 4, FOUR, "1s 250ms/step") + "\n"
    ),
    "keras 2, backspaces": _epochs_of(
        *(bar2(done, 4) + "\x08" * 60 for done in (1, 2, 3)), bar2(4, 4, FOUR, "1s 250ms/step") + "\n"
    ),
    "keras 2, a line each": _epochs_of(
        *(bar2(done, 4) + "\n" for done in (1, 2, 3)), bar2(4, 4, FOUR, "1s 250ms/step") + "\n"
    ),
    "keras 2, Windows": _epochs_of(
        *(bar2(done, 4) + "\r" for done in (1, 2, 3)), bar2(4, 4, FOUR, "1s 250ms/step") + "\n"
    ).replace("\n", "\r\n"),
    "keras 3, colours": _epochs_of(
        *("\r" + bar3(done, 4) for done in (1, 2, 3)), "\r" + bar3(4, 4, FOUR, "1s 250ms/step") + "\n"
    ),
    "keras 3, colours without the escape": _epochs_of(
        *(bar3(done, 4, escape="") + "\n" for done in (1, 2, 3)), bar3(4, 4, FOUR, "1s 250ms/step", escape="") + "\n"
    ),
    "verbose 2 of keras 2": _epochs_of(f"4/4 - 1s - {FOUR} - 1s/epoch - 250ms/step\n"),
    "verbose 2 of keras 3": _epochs_of(f"4/4 - 1s - 250ms/step - {FOUR}\n"),
    "pasted, newlines lost": _epochs_of(bar2(4, 4, FOUR, "1s 250ms/step") + "\n").replace("2\n4/4", "2 4/4"),
}


@pytest.mark.parametrize("log", DRAWN.values(), ids=DRAWN)
def test_two_epochs_are_two_epochs_however_they_were_drawn(log: str) -> None:
    diagnosis = answer(log)
    [fit] = diagnosis.run.fits
    assert (fit.asked, fit.reached, fit.complete) == (2, 2, True)
    assert [(epoch.batches, epoch.of) for epoch in fit.epochs] == [(4, 4), (4, 4)]
    assert [epoch.metrics for epoch in fit.epochs] == [{"loss": 0.25, "accuracy": 0.75}] * 2
    assert [epoch.step_seconds for epoch in fit.epochs] == [0.25, 0.25]
    assert (diagnosis.outcome, diagnosis.findings) == ("finished", ())


@pytest.mark.parametrize("log", DRAWN.values(), ids=DRAWN)
def test_the_end_may_lack_its_newline(log: str) -> None:
    assert answer(log.rstrip("\r\n")).outcome == "finished"


def test_an_epoch_that_is_still_open_is_not_complete_and_not_cut_short() -> None:
    diagnosis = answer(OPEN_EPOCH)
    [epoch] = diagnosis.run.all(Epoch)
    assert (epoch.batches, epoch.of, epoch.is_open, epoch.cut) == (40, 100, True, False)
    assert diagnosis.outcome == "unknown"
    assert diagnosis.findings == ()


def test_a_header_alone_is_a_fit_without_an_epoch() -> None:
    [fit] = answer("Epoch 1/9\n").run.fits
    assert (fit.asked, fit.epochs) == (9, ())


def test_a_log_that_begins_in_the_middle_of_a_fit() -> None:
    [fit] = answer(epochs(2, 9, first=8)).run.fits
    assert (fit.began.initial_epoch, fit.reached, fit.asked, fit.complete) == (7, 9, 9, True)


def test_several_fits_of_one_program() -> None:
    fits = answer(epochs(2) + epochs(2) + epochs(1, 5)).run.fits
    assert [(fit.id, fit.asked, fit.reached, fit.complete) for fit in fits] == [
        (1, 2, 2, True),
        (2, 2, 2, True),
        (3, 5, 1, False),
    ]


def test_a_bar_of_evaluate_is_no_epoch() -> None:
    fields = story(epochs(1) + bar2(10, 10, "loss: 0.9000", "0s 2ms/step") + "\n")
    assert [event.KIND for event in fields.events] == ["fit", "epoch", "fit-end", "progress"]


def test_a_bar_of_validation_in_the_middle_of_an_epoch_is_not_the_epochs_own() -> None:
    validation = bar2(10, 10, "loss: 9.0000", "0s 2ms/step")
    fields = story(f"Epoch 1/1\n{bar2(99, 100)}\r{validation}\r{bar2(100, 100, 'loss: 0.5000', '9s 90ms/step')}\n")
    [epoch] = [event for event in fields.events if isinstance(event, Epoch)]
    assert (epoch.batches, epoch.of, epoch.metrics) == (100, 100, {"loss": 0.5})


def test_an_unknown_number_of_batches_is_known_from_the_second_epoch_on() -> None:
    first = "\r".join(bar3(done, "Unknown") for done in (1, 60, 120))
    fields = story(f"Epoch 1/2\n{first}\nEpoch 2/2\n{bar3(120, 120)}\n")
    assert [(e.batches, e.of) for e in fields.events if isinstance(e, Epoch)] == [(120, None), (120, 120)]


@pytest.mark.parametrize(
    ("clock", "seconds"),
    [("1s 12us/step", 12e-6), ("3s 250ms/step", 0.25), ("99s 2s/step", 2.0), ("9s 3ms/sample", 3e-3)],
)
def test_the_clock_of_a_step(clock: str, seconds: float) -> None:
    [epoch] = [e for e in story(f"Epoch 1/1\n{bar2(4, 4, clock=clock)}\n").events if isinstance(e, Epoch)]
    assert epoch.step_seconds == pytest.approx(seconds)


METRICS = {
    "loss: 0.1200 - accuracy: 0.9100": {"loss": 0.12, "accuracy": 0.91},
    "ETA: 6s - loss: 1.0e-05": {"loss": 1e-05},
    "3s 30ms/step - loss: 12 - val_loss: -3.5": {"loss": 12.0, "val_loss": -3.5},
    "loss: inf - val_loss: -inf": {"loss": math.inf, "val_loss": -math.inf},
    "loss = 0.5, lr = 1e-3": {"loss": 0.5, "lr": 1e-3},
    "wide/out_loss: 2.0000": {"wide/out_loss": 2.0},
    "step: 100 - epoch: 3": {},
    "no numbers here": {},
}


@pytest.mark.parametrize(("text", "metrics"), METRICS.items(), ids=METRICS)
def test_metrics(text: str, metrics: dict[str, float]) -> None:
    assert metrics_in(text) == metrics


def test_a_metric_that_is_nan() -> None:
    assert math.isnan(metrics_in("loss: nan - accuracy: 0.1000")["loss"])


@pytest.mark.parametrize("text", ["loss: 0.0900E tensorflow/core", "loss: 12.75kB"])
def test_a_number_that_runs_into_a_word_is_not_cut_to_a_shorter_number(text: str) -> None:
    assert metrics_in(text).get("loss") in (None, 0.09, 12.75)


COUNTERS = {
    "step 100: loss = 0.5000": 100,
    "INFO:tensorflow:loss = 0.5, step = 300 (1.2 sec)": 300,
    "INFO:tensorflow:global_step/sec: 12 loss 1, global step 400": 400,
    " 45%|████▌     | 45/100 [00:10<00:12,  4.5it/s, loss=0.3]": 45,
    "Iteration 7, loss 0.3": 7,
}


@pytest.mark.parametrize(("line", "done"), COUNTERS.items(), ids=COUNTERS)
def test_a_counter_of_the_programs_own(line: str, done: int) -> None:
    [event] = story(line + "\n").events
    assert isinstance(event, Progress)
    assert event.done == done


def test_a_counter_moves_when_it_grows() -> None:
    fields = story("step 1: loss 0.3\nstep 2: loss 0.2\nstep 2: loss 0.2\nstep 1: loss 0.9\n")
    assert [isinstance(event, Progress) and event.moved for event in fields.events] == [False, True, False, False]


NANS = {
    "keras 2": f"Epoch 1/2\n{bar2(100, 100, 'loss: nan', '9s 90ms/step')}\n",
    "keras 2, in the middle": f"Epoch 1/2\n{bar2(40, 100, 'loss: nan - accuracy: 0.1000')}\n",
    "keras 3": f"Epoch 1/2\n{bar3(4, 4, 'accuracy: 0.1000 - loss: nan')}\n",
    "infinite": f"Epoch 1/2\n{bar2(100, 100, 'loss: inf', '9s 90ms/step')}\n",
    "minus infinite": f"Epoch 1/2\n{bar2(100, 100, 'loss: -inf', '9s 90ms/step')}\n",
    "validation": f"Epoch 1/2\n{bar2(100, 100, 'loss: 0.3000 - val_loss: nan', '9s 90ms/step')}\n",
    "a loop": "step 100: loss = 0.5\nstep 200: loss = nan\nstep 300: loss = nan\n",
    "after many healthy lines": "".join(f"step {n}: loss = 0.{n:03}\n" for n in range(500)) + "step 500: loss = nan\n",
}


@pytest.mark.parametrize("log", NANS.values(), ids=NANS)
def test_a_loss_that_is_not_a_number(log: str) -> None:
    assert cause(log) == "nan-loss"


NOT_NANS = {
    "another metric": f"Epoch 1/1\n{bar2(100, 100, 'loss: 0.3000 - f1: nan', '9s 90ms/step')}\n",
    "it was one, and is a number again": f"Epoch 1/2\n{bar2(100, 100, 'loss: nan', '9s 90ms/step')}\n"
    f"Epoch 2/2\n{bar2(100, 100, 'loss: 0.3000', '9s 90ms/step')}\n",
    "a name": "reading nano.csv: loss of precision\n" + ONE_FIT,
}


@pytest.mark.parametrize("log", NOT_NANS.values(), ids=NOT_NANS)
def test_a_loss_that_is_a_number(log: str) -> None:
    assert cause(log) is None


TERMINATED_ON_NAN = {
    "keras 2": f"Epoch 1/3\n{bar2(40, 100, 'loss: nan')}Batch 40: Invalid loss, terminating training\n"
    f"{bar2(41, 100, 'loss: nan', '4s 90ms/step')}\n",
    "keras 3": f"Epoch 1/3\nBatch 40: Invalid loss, terminating training\n{bar3(41, 100, 'loss: nan')}\n",
}


@pytest.mark.parametrize("log", TERMINATED_ON_NAN.values(), ids=TERMINATED_ON_NAN)
def test_terminate_on_nan(log: str) -> None:
    diagnosis = answer(log)
    assert chain(diagnosis) == [("nan-loss", None), ("stopped-on-nan", "nan-loss")]
    assert diagnosis.outcome == "stopped"


def test_terminate_on_nan_as_the_last_line() -> None:
    log = f"Epoch 1/3\n{bar2(40, 100, 'loss: nan')}\nBatch 40: Invalid loss, terminating training\n"
    assert chain(answer(log)) == [("nan-loss", None), ("stopped-on-nan", "nan-loss")]


def chain(diagnosis: Diagnosis) -> list[tuple[str, str | None]]:
    return [(finding.rule, finding.follows_from) for finding in diagnosis.findings]


def test_early_stopping() -> None:
    not_improved = "\nEpoch 4: val_loss did not improve from 0.18250\n"
    diagnosis = answer(epochs(4, 50) + not_improved + "Epoch 4: early stopping\n")
    assert diagnosis.findings[0].rule == "early-stopping"
    assert "epoch 4 of 50" in diagnosis.findings[0].cause
    assert "val_loss" in diagnosis.findings[0].cause
    assert diagnosis.outcome == "stopped"


def test_early_stopping_of_an_earlier_fit_is_over() -> None:
    assert cause(epochs(4, 50) + "Epoch 4: early stopping\n" + epochs(2)) is None


RAN_OUT = {
    "keras 2, in the first epoch": (
        f"Epoch 1/5\n{bar2(40, 100)}{RAN_OUT_2.format(500)}{bar2(100, 100, clock='3s 30ms/step')}\n",
        "40; 100 requested",
    ),
    "keras 2, in the second": (
        epochs(1, 5) + f"Epoch 2/5\n{bar2(40, 100)}{RAN_OUT_2.format(500)}{bar2(100, 100, clock='3s 30ms/step')}\n",
        "100, 40; 100 requested",
    ),
    "keras 3, an epoch of nothing": (
        f"Epoch 1/3\n{bar3(100, 100, clock='3s 30ms/step')}\n"
        f"Epoch 2/3\n{bar3(1, 100, 'loss: 0.0000', '4:00 3s/step')}\n{RAN_OUT_3}"
        f"{bar3(100, 100, 'loss: 0.0000', '0s 0us/step')}\n"
        f"Epoch 3/3\n{bar3(100, 100, clock='3s 30ms/step')}\n",
        "100, 0, 100; 100 requested",
    ),
}


@pytest.mark.parametrize(("log", "counted"), RAN_OUT.values(), ids=RAN_OUT)
def test_data_that_ran_out(log: str, counted: str) -> None:
    diagnosis = answer(log)
    finding = diagnosis.findings[0]
    assert finding.rule == "data-exhausted"
    assert finding.evidence[0].says == f"batches per epoch: {counted}"


def test_data_that_ran_out_late_stopped_the_training() -> None:
    late = f"Epoch 15/90\n{bar2(40, 100)}{RAN_OUT_2.format(9000)}{bar2(100, 100, clock='3s 30ms/step')}\n"
    diagnosis = answer(epochs(14, 90) + late + "saved to wheels.keras\n")
    assert diagnosis.findings[0].rule == "data-exhausted"
    assert diagnosis.outcome == "stopped"


NOT_RAN_OUT = {
    "keras 3, data of unknown length": f"Epoch 1/2\n{bar3(120, 'Unknown')}\n{RAN_OUT_3}\r{bar3(120, 120)}\n"
    f"Epoch 2/2\n{bar3(120, 120)}\n",
    "keras 3, after the last epoch": f"Epoch 1/2\n{bar3(100, 100)}\nEpoch 2/2\n{bar3(100, 100)}\n{RAN_OUT_3}",
    "keras 3, at each epoch's end": "".join(f"Epoch {n}/3\n{bar3(100, 100)}\n{RAN_OUT_3}" for n in (1, 2, 3)),
}


@pytest.mark.parametrize("log", NOT_RAN_OUT.values(), ids=NOT_RAN_OUT)
def test_the_same_warning_without_harm(log: str) -> None:
    diagnosis = answer(log)
    assert diagnosis.findings == ()
    assert diagnosis.outcome == "finished"


def test_validation_data_that_ran_out() -> None:
    full = f"{bar2(100, 100)}{RAN_OUT_2.format(30)}"
    last = bar2(100, 100, "loss: 0.0900 - val_loss: 0.1000", "3s 30ms/step")
    log = f"Epoch 1/2\n{full}{last}\nEpoch 2/2\n{bar2(100, 100, clock='3s 30ms/step')}\n"
    assert cause(log) == "validation-data-exhausted"


def test_a_first_epoch_that_is_slow_for_its_tracing_makes_no_phantoms_of_the_others() -> None:
    slow = f"Epoch 1/2\n4/4 - 3s - 700ms/step - {FOUR}\n"
    diagnosis = answer(slow + f"Epoch 2/2\n4/4 - 0s - 12ms/step - {FOUR}\n")
    assert diagnosis.findings == ()
    assert diagnosis.outcome == "finished"


def test_an_epoch_in_which_the_machine_slept_makes_no_phantoms_of_the_others() -> None:
    clocks = ["9s 90ms/step", "9s 90ms/step", "28800s 288s/step", "9s 90ms/step"]
    log = "".join(f"Epoch {n}/4\n{bar2(100, 100, clock=clock)}\n" for n, clock in enumerate(clocks, 1))
    diagnosis = answer(log)
    assert (diagnosis.findings, diagnosis.outcome) == ((), "finished")


def _last_fit(log: str) -> Fit:
    return answer(log).run.fits[-1]


@pytest.mark.parametrize("count", [41, 60, 500])
def test_a_fit_of_many_epochs_is_followed_to_its_end(count: int) -> None:
    fit = _last_fit(epochs(count) + "saved to wheels.keras\n")
    assert (fit.reached, fit.complete) == (count, True)


def test_how_far_a_long_fit_had_come_when_it_crashed() -> None:
    assert _last_fit(epochs(70, 200) + TRACEBACK).reached == 70


def test_a_fit_of_many_epochs_at_whose_end_the_log_ends() -> None:
    assert _last_fit(epochs(150)).complete


def test_colours_in_a_bar_are_gone_from_the_lines() -> None:
    assert all(ESC not in line.text and "[1m" not in line.text for line in story(f"{bar3(4, 4)}\n").lines)
