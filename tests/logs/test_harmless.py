"""Messages that frighten people and mean nothing bad are named as such, and are never the cause."""

from __future__ import annotations

import pytest

from laststep.logs.harmless import KNOWN, harmless_in
from laststep.logs.read import parsed_console
from laststep.reports import terminal
from tests.logs.printed import DATE, LOGS, MESSAGES, ONE_FIT, OPEN_EPOCH, TENSORFLOW_STARTS, TRACEBACK, answer, story


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_it_is_named_and_not_blamed(message: str) -> None:
    diagnosis = answer(f"{message}\n{ONE_FIT}{message}\n")
    [known] = harmless_in(parsed_console(diagnosis.run).lines)
    assert known.times == 2
    assert diagnosis.findings == ()
    assert diagnosis.outcome == "finished"
    page = terminal.page(diagnosis)
    assert "\nHarmless messages\n" in page
    assert "(2 times)" in " ".join(page.split())


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_beside_a_real_error_the_error_is_the_answer(message: str) -> None:
    log = f"{message}\n{OPEN_EPOCH}{message}\n{TRACEBACK}"
    assert answer(log).findings[0].rule == "unhandled-exception"


AT_THE_START = ("oneDNN", "the processor", "registered twice")


@pytest.mark.parametrize("name", [name for name in MESSAGES if name not in AT_THE_START])
def test_after_the_error_it_changes_nothing(name: str) -> None:
    assert answer(f"{OPEN_EPOCH}{TRACEBACK}{MESSAGES[name]}\n").findings[0].rule == "unhandled-exception"


@pytest.mark.parametrize("name", AT_THE_START)
def test_what_another_rank_prints_at_its_start_does_not_hide_the_error_of_the_first(name: str) -> None:
    assert answer(f"{OPEN_EPOCH}{TRACEBACK}{MESSAGES[name]}\n").findings[0].rule == "unhandled-exception"


@pytest.mark.parametrize("message", [message for name, message in MESSAGES.items() if name != "no device"])
def test_in_a_log_that_does_not_show_its_end_it_is_no_cause(message: str) -> None:
    diagnosis = answer(f"{message}\n{OPEN_EPOCH}")
    assert diagnosis.findings == ()
    assert diagnosis.outcome == "unknown"


def test_a_training_on_the_cpu_that_is_in_its_first_epoch_did_not_crash_for_want_of_a_gpu() -> None:
    assert answer(f"{MESSAGES['no device']}\n{OPEN_EPOCH}").findings == ()


def test_the_most_frequent_come_first_and_each_is_counted() -> None:
    names = ["oneDNN", "NUMA", "TensorRT"]
    log = "".join(f"{MESSAGES[name]}\n" * (number + 1) for number, name in enumerate(names))
    found = harmless_in(story(log).lines)
    assert [item.times for item in found] == [3, 2, 1]
    assert "TensorRT" in found[0].words


def test_a_log_without_any() -> None:
    assert harmless_in(story(ONE_FIT + TRACEBACK).lines) == []
    assert "Harmless" not in terminal.page(answer(ONE_FIT))


def test_only_some_are_shown_unless_all_are_asked_for() -> None:
    from laststep.reports.terminal import page

    diagnosis = answer("".join(f"{message}\n" for message in MESSAGES.values()) + ONE_FIT)
    short, whole = page(diagnosis), page(diagnosis, verbose=True)
    known = harmless_in(parsed_console(diagnosis.run).lines)
    assert len(known) > 10
    assert sum(f"“{item.words}”" in " ".join(short.split()) for item in known) == 3
    assert all(f"“{item.words}”" in " ".join(whole.split()) for item in known)


def test_each_has_a_name_of_its_own_and_says_what_it_means() -> None:
    names = [words for _, words, _ in KNOWN]
    assert len(set(names)) == len(names)
    assert all(len(meaning) > 10 for _, _, meaning in KNOWN)


@pytest.mark.parametrize("name", ["traceback", "gpu memory", "segmentation fault", "time limit", "memory", "ran out"])
def test_what_ended_a_training_is_not_called_harmless(name: str) -> None:
    words = [item.words for item in harmless_in(story(LOGS[name].replace(TENSORFLOW_STARTS, "")).lines)]
    assert words == []


def test_a_gpu_that_was_left_alone_is_neither_harmless_nor_a_cause() -> None:
    skipped = (
        f"{DATE} W tensorflow/core/common_runtime/gpu/gpu_device.cc:2256] Cannot dlopen some GPU libraries. Please "
        "make sure the missing libraries mentioned above are installed properly.\nSkipping registering GPU devices...\n"
    )
    diagnosis = answer(f"{MESSAGES['no library']}\n{skipped}{ONE_FIT}")
    assert (diagnosis.findings, diagnosis.outcome) == ((), "finished")
    page = " ".join(terminal.page(diagnosis).split())
    assert "Worth knowing" in page
    assert "could not load its libraries (libcudart.so.11.0): it ran on the CPU" in page
    assert "Cannot dlopen" not in [item.words for item in harmless_in(parsed_console(diagnosis.run).lines)]
