"""Stacks as faulthandler writes them: real ones, cut ones, and the signal that asks for them."""

from __future__ import annotations

import faulthandler
import signal
import threading
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from laststep.record.stacks import MOST_THREADS, describe_frame, parse_threads, stack_signal

TEXT = """Thread 0x00007f1 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 320 in wait
  File "/home/me/load.py", line 12 in produce
  File "/home/me/load.py", line ??? in outer

Current thread 0x00007f2 (most recent call first):
  File "/home/me/train.py", line 5 in <module>
"""


def test_each_thread_with_its_frames_innermost_first() -> None:
    other, main = parse_threads(TEXT)
    assert (other["current"], main["current"]) == (False, True)
    assert [frame["function"] for frame in other["frames"]] == ["wait", "produce", "outer"]
    assert other["frames"][0] == {"file": "/usr/lib/python3.11/threading.py", "line": 320, "function": "wait"}
    assert other["frames"][2]["line"] is None
    assert main["frames"] == [{"file": "/home/me/train.py", "line": 5, "function": "<module>"}]


def test_a_real_dump_names_this_very_line(tmp_path: Path) -> None:
    gate = threading.Event()
    thread = threading.Thread(target=gate.wait)
    thread.start()
    with open(tmp_path / "stacks", "w+") as file:
        faulthandler.dump_traceback(file, all_threads=True)
    gate.set()
    thread.join()
    threads = parse_threads((tmp_path / "stacks").read_text())
    (main,) = [told for told in threads if told["current"]]
    assert main["frames"][0]["file"] == __file__
    assert main["frames"][0]["text"] == "faulthandler.dump_traceback(file, all_threads=True)"
    waiting = [told["frames"] for told in threads if not told["current"]]
    assert any(frames and frames[0]["function"] == "wait" for frames in waiting)


def test_frames_before_any_thread_belong_to_nobody() -> None:
    assert parse_threads('Fatal Python error: Aborted\n  File "a.py", line 1 in f\n') == []


def test_only_so_many_threads_are_kept() -> None:
    text = "".join(f'Thread 0x{i:x} (most recent call first):\n  File "a.py", line 1 in f\n' for i in range(500))
    assert len(parse_threads(text)) == MOST_THREADS


@given(cut=st.integers(0, len(TEXT)))
def test_a_dump_cut_anywhere_still_reads(cut: int) -> None:
    threads = parse_threads(TEXT[:cut])
    assert len(threads) <= 2
    whole = parse_threads(TEXT)
    for told, full in zip(threads, whole, strict=False):
        assert len(told["frames"]) <= len(full["frames"])


@given(st.text())
def test_any_text_is_no_error(text: str) -> None:
    parse_threads(text)
    parse_threads("Current thread 0x1 (most recent call first):\n  File " + text)


def test_odd_names_come_through() -> None:
    text = 'Thread 0x1 (most recent call first):\n  File "/a "b", line 3 in x.py", line 7 in <lambda>\n'
    assert parse_threads(text)[0]["frames"][0]["line"] in (3, 7)
    assert describe_frame("<frozen importlib>", "5", "f") == {"file": "<frozen importlib>", "line": 5, "function": "f"}


def test_the_signal_is_a_real_time_one_that_nobody_names() -> None:
    number = stack_signal()
    if hasattr(signal, "SIGRTMIN"):
        assert signal.SIGRTMIN < number < signal.SIGRTMAX
        assert number not in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM)
    else:
        assert number == 0
