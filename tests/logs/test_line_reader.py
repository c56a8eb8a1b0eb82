"""Bytes → lines as a person saw them: encodings, bars, colours, prefixes, glued lines, what is left out."""

from __future__ import annotations

import gzip
import io
import os
import random
import signal
from collections.abc import Callable, Iterator

import pytest

from laststep.logs import line_reader
from laststep.logs.line_reader import LAST_LINES, MAX_ALIKE_LINES, MAX_LINE_CHARS, NotALog, Reading, Repeats, read_lines
from laststep.logs.read import parsed_console
from laststep.record.events.logs import Log
from laststep.record.events.process import Raised
from laststep.record.events.training import Epoch
from laststep.record.place import Place
from laststep.reports import terminal
from tests.logs.printed import (
    ESC,
    ONE_FIT,
    OPEN_EPOCH,
    RAN_OUT_2,
    TRACEBACK,
    answer,
    bar2,
    cause,
    epochs,
    story,
    texts,
)

HOW_IT_LOOKS = {
    "plain": ("one\ntwo\n", ["one", "two"]),
    "no newline at the end": ("one\ntwo", ["one", "two"]),
    "Windows": ("one\r\ntwo\r\n", ["one", "two"]),
    "empty lines are left out": ("one\n\n\n\ntwo\n\n", ["one", "two"]),
    "drawn over with carriage returns": ("a1\ra2\ra3\nend\n", ["a1", "a2", "a3", "end"]),
    "drawn over with backspaces": ("a1\x08\x08a2\x08\x08a3\nend\n", ["a1", "a2", "a3", "end"]),
    "colours": (f"{ESC}[1;31mred{ESC}[0m and {ESC}[38;5;208morange{ESC}[m\n", ["red and orange"]),
    "the cursor moves": (f"{ESC}[2K{ESC}[1Ghello{ESC}[?25l there{ESC}[A\n", ["hello there"]),
    "a title for the window": (f"{ESC}]0;my terminal\x07hello\n{ESC}]2;x{ESC}\\there\n", ["hello", "there"]),
    "colours without the escape": ("[1mbold[0m and [32;1mgreen[0m\n", ["bold and green"]),
    "brackets that are no colours": ("a[1] = b[2] [x]\n", ["a[1] = b[2] [x]"]),
    "tabs stay": ("\tone\ttwo\n", ["\tone\ttwo"]),
    "space at the end goes": ("one   \n", ["one"]),
}


@pytest.mark.parametrize(("log", "seen"), HOW_IT_LOOKS.values(), ids=HOW_IT_LOOKS)
def test_what_a_person_sees(log: str, seen: list[str]) -> None:
    assert texts(log) == seen


def test_a_line_has_the_number_that_an_editor_shows() -> None:
    fields = story("one\n\nthree\ra\rb\n\r\nfive\nsix")
    assert [(line.number, line.text) for line in fields.lines] == [
        (1, "one"),
        (3, "three"),
        (3, "a"),
        (3, "b"),
        (5, "five"),
        (6, "six"),
    ]
    assert fields.reading.lines == 6


UMLAUT = (OPEN_EPOCH + TRACEBACK.replace("speed", "größe")).replace("\n", "\r\n")
ENCODINGS = {
    "utf-8": UMLAUT.encode(),
    "utf-16 with a mark, as PowerShell writes it": b"\xff\xfe" + UMLAUT.encode("utf-16-le"),
    "utf-16, the other way round": b"\xfe\xff" + UMLAUT.encode("utf-16-be"),
    "utf-16 without a mark": UMLAUT.encode("utf-16-le"),
}


@pytest.mark.parametrize("log", ENCODINGS.values(), ids=ENCODINGS)
def test_encodings(log: bytes) -> None:
    diagnosis = answer(log)
    assert diagnosis.run.fits[0].asked == 9
    assert diagnosis.findings[0].evidence[0].says == "KeyError: 'größe'"
    assert parsed_console(diagnosis.run).reading.bytes == len(log)


def test_utf_8_with_a_mark_as_windows_writes_it() -> None:
    assert texts(b"\xef\xbb\xbf" + UMLAUT.encode())[0] == "Epoch 1/9"


def test_latin_1_is_read_with_its_letters_lost() -> None:
    finding = answer(UMLAUT.encode("latin-1")).findings[0]
    assert finding.rule == "unhandled-exception"
    assert finding.evidence[0].says == "KeyError: 'gr��e'"


def test_a_log_full_of_latin_1_is_no_binary_file() -> None:
    assert cause(("Über Äpfel größer schön\n" * 200).encode("latin-1") + TRACEBACK.encode()) == "unhandled-exception"


def test_gzip() -> None:
    diagnosis = answer(gzip.compress((OPEN_EPOCH + TRACEBACK).encode()))
    assert diagnosis.findings[0].rule == "unhandled-exception"
    assert diagnosis.run.fits[0].asked == 9


def test_gzip_in_several_parts_as_logrotate_appends_them() -> None:
    parts = gzip.compress(OPEN_EPOCH.encode()) + gzip.compress(TRACEBACK.encode())
    diagnosis = answer(parts)
    assert diagnosis.findings[0].rule == "unhandled-exception"
    assert diagnosis.run.fits[0].asked == 9


def test_gzip_larger_than_one_chunk() -> None:
    log = random.Random(3).randbytes(line_reader.CHUNK_BYTES).hex() + "\n" + TRACEBACK
    assert [event.KIND for event in story(gzip.compress(log.encode(), 1)).events] == ["exception"]


@pytest.mark.parametrize("kept", [0.99, 0.5])
def test_gzip_that_is_cut_gives_what_is_there_or_one_clear_line(kept: float) -> None:
    whole = gzip.compress("".join(f"{n} {random.Random(n).random()}\n" for n in range(5000)).encode())
    try:
        assert story(whole[: int(len(whole) * kept)]).lines
    except NotALog as refused:
        assert "gzip" in str(refused)  # noqa: PT017 - either of the two is right


RUBBISH = {
    "an ELF file": b"\x7fELF\x02\x01\x01" + bytes(200) + b".text\0.data\0" + bytes(range(256)) * 4,
    "random bytes": random.Random(7).randbytes(5000),
    "zeros": bytes(1000),
    "a picture": b"\x89PNG\r\n\x1a\n" + random.Random(8).randbytes(3000),
    "weights": b"\x89HDF\r\n\x1a\n" + random.Random(9).randbytes(3000),
    "an archive": b"PK\x03\x04" + random.Random(10).randbytes(3000),
}


@pytest.mark.parametrize("data", RUBBISH.values(), ids=RUBBISH)
def test_what_is_no_text_is_refused(data: bytes) -> None:
    with pytest.raises(NotALog, match=r"^weights\.bin is not a text"):
        list(read_lines(io.BytesIO(data), Reading(), Repeats(), "weights.bin"))


def test_some_rubbish_in_a_log_is_left_out_and_counted() -> None:
    binary = bytes(range(1, 8)) * 10 + b"\n"
    diagnosis = answer(OPEN_EPOCH.encode() * 200 + binary * 3 + TRACEBACK.encode())
    assert diagnosis.run.first(Log).binary_lines == 3
    assert diagnosis.findings[0].rule == "unhandled-exception"
    assert "3 lines are not text" in terminal.page(diagnosis)


def test_a_control_character_does_not_make_a_line_rubbish() -> None:
    assert story("x" * 100 + "\x01 the end\n" + "fine\n" * 10).reading.binary_lines == 0


PREFIXES = {
    "mpirun": "[1,0]<stderr>: ",
    "mpirun, another rank": "[31200,12]<stdout>: ",
    "Ray": "(train pid=4411) ",
    "Ray, on another machine": "(RayTrainWorker pid=4411, ip=10.0.0.4) ",
    "Ray, in colour": f"{ESC}[36m(RayTrainWorker pid=4411){ESC}[0m ",
    "compose": "train-1  | ",
    "compose, older": "train_1 | ",
    "compose, in colour": f"{ESC}[33mtrain-1  |{ESC}[0m ",
    "kubectl --timestamps": "2025-03-04T05:06:07.123456789Z ",
    "a node's own file": "2025-03-04T05:06:07.123456789Z stderr F ",
    "a node's own file, local time": "2025-03-04T05:06:07.123456+01:00 stdout F ",
}


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
def test_what_a_launcher_puts_before_every_line(prefix: str) -> None:
    log = "".join(f"{prefix}{line}\n" for line in (epochs(1, 9) + OPEN_EPOCH + TRACEBACK).splitlines())
    diagnosis = answer(log)
    finding = diagnosis.findings[0]
    assert finding.rule == "unhandled-exception"
    assert finding.where == Place("/home/anna/train.py", 12, 'rows = table["speed"]', is_users=True)
    assert [(fit.asked, fit.epochs[-1].batches) for fit in diagnosis.run.fits] == [(9, 100), (9, 40)]


def test_mpirun_puts_no_space_between_its_tag_and_the_line() -> None:
    log = "".join(f"[1,0]<stderr>:{line}\n" for line in TRACEBACK.splitlines())
    assert answer(log).findings[0].where.text == 'rows = table["speed"]'


BAR = bar2(40, 100, "loss: 0.0900")
GLUED = {
    "TensorFlow": "2020-05-04 03:02:01.123456: W tensorflow/core/framework/op_kernel.cc:1753] a word of warning",
    "absl with a date": "W0504 03:02:01.123456    4411 wheels.cc:11] a word of warning",
    "a logged warning": "WARNING:tensorflow:a word of warning",
    "a traceback": "Traceback (most recent call last):",
    "a shell": "Killed",
    "a shell, with a core": "Segmentation fault (core dumped)",
}
NOT_PARTED = {
    "TensorFlow without a date": "W tensorflow/core/framework/op_kernel.cc:1192] a word of warning",
    "absl with seconds": "W0000 00:00:1714800000.123456    4411 wheels.cc:1040] a word of warning",
}


@pytest.mark.parametrize("second", GLUED.values(), ids=GLUED)
def test_a_line_that_is_glued_to_a_bar_is_a_line_of_its_own(second: str) -> None:
    fields = story(f"Epoch 1/9\n{BAR}{second}")
    assert [(line.number, line.text) for line in fields.lines] == [(1, "Epoch 1/9"), (2, BAR), (2, second)]
    [epoch] = [event for event in fields.events if isinstance(event, Epoch)]
    assert epoch.metrics == {"loss": 0.09}


@pytest.mark.parametrize("second", NOT_PARTED.values(), ids=NOT_PARTED)
def test_the_other_lines_of_tensorflow_too(second: str) -> None:
    assert texts(BAR + second) == [BAR, second]


@pytest.mark.parametrize("second", NOT_PARTED.values(), ids=NOT_PARTED)
def test_what_is_glued_to_a_bar_changes_none_of_its_metrics(second: str) -> None:
    [epoch] = [event for event in story(f"Epoch 1/9\n{BAR}{second}\n").events if isinstance(event, Epoch)]
    assert epoch.metrics == {"loss": 0.09}


@pytest.mark.parametrize(
    "line",
    [
        "see 'WARNING:tensorflow:' in the manual",
        "all were killed or terminated",
        "the pod was OOMKilled, it says",
        "logged at 2020-05-04 03:02:01.123456 by hand",
    ],
)
def test_a_line_that_only_quotes_another_stays_whole(line: str) -> None:
    assert texts(line) == [line]


def test_a_word_that_ends_like_a_shells_stays_whole() -> None:
    assert texts("      Reason:       OOMKilled\n") == ["      Reason:       OOMKilled"]


@pytest.mark.parametrize("chunk", [64, 65, 67, 100, 1 << 20])
def test_where_the_chunks_end_makes_no_difference(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    log = ("größer\r\n" * 20 + BAR + "\r" + BAR + "\n" + "━━━\r\n\r\nlast").encode()
    whole = [(line.number, line.text) for line in story(log).lines]
    monkeypatch.setattr(line_reader, "CHUNK_BYTES", chunk)
    assert [(line.number, line.text) for line in story(log).lines] == whole


def test_a_very_long_line_is_cut_and_the_next_one_is_not() -> None:
    fields = story("x" * (MAX_LINE_CHARS + 5000) + "\n" + TRACEBACK)
    assert len(fields.lines[0].text) == MAX_LINE_CHARS
    assert fields.lines[1].text == "Traceback (most recent call last):"
    assert [event.KIND for event in fields.events] == ["exception"]


@pytest.mark.parametrize(
    "length", [MAX_LINE_CHARS - 1, MAX_LINE_CHARS, MAX_LINE_CHARS + 1, 3 * MAX_LINE_CHARS, 3_000_000]
)
def test_a_long_line_without_an_end(length: int) -> None:
    fields = story(OPEN_EPOCH + "y" * length)
    assert [line.number for line in fields.lines] == [1, 2, 3]
    assert set(fields.lines[2].text) == {"y"}


def test_a_bar_without_an_end_is_followed_to_its_last_picture() -> None:
    pictures = "".join(bar2(done % 100, 100, f"loss: 0.{done:05}") + "\r" for done in range(1, 70_000))
    assert len(pictures) > 4 * line_reader.CHUNK_BYTES
    fields = story(f"Epoch 1/9\n{pictures}{bar2(77, 100)}")
    [epoch] = [event for event in fields.events if isinstance(event, Epoch)]
    assert (epoch.batches, epoch.is_open, epoch.at_line) == (77, True, 2)


@pytest.fixture
def at_most() -> Iterator[Callable[[float], None]]:
    """at_most(seconds) fails the test when it takes more processor time than that, even inside a pattern."""

    def limit(seconds: float) -> None:
        signal.setitimer(signal.ITIMER_PROF, seconds)

    before = signal.signal(signal.SIGPROF, lambda *_: pytest.fail("takes too long"))
    yield limit
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


LONG_WORDS = {"words": "xyz ", "a path": "../", "base64": "aZ09", "numbers": "0.125"}


@pytest.mark.parametrize("piece", LONG_WORDS.values(), ids=LONG_WORDS)
def test_a_long_line_is_read_in_no_time(piece: str, at_most: Callable[[float], None]) -> None:
    at_most(2)
    fields = story(piece * (MAX_LINE_CHARS // len(piece)) + "\n" + TRACEBACK)
    assert [event.KIND for event in fields.events] == ["exception"]


@pytest.mark.parametrize("piece", ["xyz ", "../"], ids=["words", "a path"])
def test_a_long_line_is_judged_in_no_time(piece: str, at_most: Callable[[float], None]) -> None:
    log = piece * (MAX_LINE_CHARS // len(piece)) + "\n"
    assert cause("one line\n") is None  # so that all rules are loaded
    at_most(1)
    assert cause(log) is None


def test_what_repeats_itself_is_left_out_and_the_last_of_it_is_there() -> None:
    fields = story("".join(f"pass {n} of 5000\n" for n in range(1, 5001)) + "the end\n")
    seen = [line.text for line in fields.lines]
    assert seen[:MAX_ALIKE_LINES] == [f"pass {n} of 5000" for n in range(1, MAX_ALIKE_LINES + 1)]
    assert seen[MAX_ALIKE_LINES:] == ["pass 5000 of 5000", "the end"]
    assert fields.reading.lines == 5001


def test_the_end_of_a_log_is_there_although_it_repeats_itself() -> None:
    fields = story("".join(f"pass {n} of 5000\n" for n in range(1, 5001)))
    assert [line.number for line in fields.lines][-LAST_LINES:] == list(range(5001 - LAST_LINES, 5001))


def test_one_different_line_among_many_alike_is_there() -> None:
    log = ["step 7: loss 0.123\n"] * 100_000
    log[70_000] = "step 7: loss nan\n"
    fields = story("".join(log))
    assert [line.number for line in fields.lines if "nan" in line.text] == [70_001]


LETTERS = "abcdfghijklmnop"
DIFFERENT = [f"{a}{b}{c} {c}{a}" for a in LETTERS for b in LETTERS for c in LETTERS]
PROSE = "\n".join(DIFFERENT) + "\n"


@pytest.fixture
def few_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a log of gigabytes in which no two lines are alike."""
    monkeypatch.setattr(line_reader, "CHUNK_BYTES", 4096)
    monkeypatch.setattr(line_reader, "MANY_SHAPES", 40)
    monkeypatch.setattr(line_reader, "MAX_SHAPES", 200)


@pytest.mark.usefixtures("few_are_remembered")
@pytest.mark.parametrize("after", ["", "one more line\n", PROSE], ids=["at the end", "near the end", "in the middle"])
def test_an_error_among_more_different_lines_than_are_remembered_is_there(after: str) -> None:
    fields = story(PROSE + TRACEBACK + after)
    assert (fields.reading.lines, fields.reading.bytes) == (
        (PROSE + TRACEBACK + after).count("\n"),
        len(PROSE + TRACEBACK + after),
    )
    raised = [event for event in fields.events if isinstance(event, Raised)]
    assert raised == list(fields.events)
    assert {event.type for event in raised} == {"KeyError"}
    assert raised[0].where is not None
    assert raised[0].where.line == 12
    assert raised[0].time == len(DIFFERENT) + 1


@pytest.mark.usefixtures("few_are_remembered")
def test_an_error_among_many_different_lines_is_there_once_and_with_its_own_words() -> None:
    [event] = story(PROSE + TRACEBACK).events
    assert isinstance(event, Raised)
    assert event.message == "'speed'"


@pytest.mark.usefixtures("few_are_remembered")
@pytest.mark.parametrize("after", ["one more line\n", PROSE], ids=["near the end", "in the middle"])
def test_a_fit_among_many_different_lines(after: str) -> None:
    diagnosis = answer(PROSE + ONE_FIT + after)
    assert [fit.complete for fit in diagnosis.run.fits] == [True]
    assert (diagnosis.findings, diagnosis.outcome) == ((), "finished")


@pytest.mark.usefixtures("few_are_remembered")
def test_an_end_among_many_different_lines_is_there_once() -> None:
    words = "slurmstepd: error: *** JOB 8812 ON gpu07 CANCELLED AT 2025-03-04T05:06:07 DUE TO TIME LIMIT ***\n"
    assert [event.KIND for event in story(PROSE + words).events] == ["verdict"]


@pytest.mark.usefixtures("few_are_remembered")
@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (f"Epoch 1/5\n{BAR}\n{RAN_OUT_2.format(500)}", "data-exhausted"),
        ("Segmentation fault (core dumped)\n", "segmentation-fault"),
        ("TERM_RUNLIMIT: job over its run limit.\n", "time-limit-reached"),
    ],
)
def test_other_words_among_many_different_lines(words: str, rule: str) -> None:
    assert cause(PROSE + words + PROSE * 2) == rule


def test_any_stream_of_bytes_will_do() -> None:
    """A pipe cannot seek, and gives what it has."""
    reader, writer = os.pipe()
    with open(writer, "wb") as given:
        given.write(gzip.compress(ONE_FIT.encode()))
    with open(reader, "rb") as pipe:
        kept = [line.text for line in read_lines(pipe, Reading(), Repeats())]
    assert kept[0] == "Epoch 1/2"
