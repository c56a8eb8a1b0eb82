"""Stacks as faulthandler writes them, real ones and cut ones; and whose lines they are."""

from __future__ import annotations

import faulthandler
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laststep.record.events.shared import Frame, users_line
from laststep.record.place import Place
from laststep.supervisor.stacks import MAX_FRAMES, MAX_THREADS, package_of, parse_dump, parse_threads

TEXT = """Thread 0x00007f1 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 320 in wait
  File "/home/me/load.py", line 12 in produce
  File "/home/me/load.py", line ??? in outer

Current thread 0x00007f2 (most recent call first):
  File "/home/me/train.py", line 5 in <module>
"""


def test_each_thread_with_its_frames_innermost_first() -> None:
    other, main = parse_threads(TEXT)
    assert (other.current, main.current) == (False, True)
    assert [frame.function for frame in other.frames] == ["wait", "produce", "outer"]
    library = Frame(file="/usr/lib/python3.11/threading.py", line=320, function="wait", is_users=False)
    assert other.frames[0] == library
    assert other.frames[2].line == 0
    assert main.frames == (Frame(file="/home/me/train.py", line=5, function="<module>", is_users=True),)


def test_a_real_dump_names_this_very_line(tmp_path: Path) -> None:
    gate = threading.Event()
    thread = threading.Thread(target=gate.wait)
    thread.start()
    with open(tmp_path / "stacks", "w+") as file:
        faulthandler.dump_traceback(file, all_threads=True)
    gate.set()
    thread.join()
    threads = parse_threads((tmp_path / "stacks").read_text())
    (main,) = [thread for thread in threads if thread.current]
    assert main.frames[0].file == __file__
    assert main.frames[0].text == "faulthandler.dump_traceback(file, all_threads=True)"
    waiting = [thread.frames for thread in threads if not thread.current]
    assert any(frames and frames[0].function == "wait" for frames in waiting)


def test_frames_before_any_thread_belong_to_nobody() -> None:
    assert parse_threads('Fatal Python error: Aborted\n  File "a.py", line 1 in f\n') == ()


def test_only_so_many_threads_are_kept() -> None:
    text = "".join(f'Thread 0x{i:x} (most recent call first):\n  File "a.py", line 1 in f\n' for i in range(500))
    assert len(parse_threads(text)) == MAX_THREADS


@given(cut=st.integers(0, len(TEXT)))
def test_a_dump_cut_anywhere_still_reads(cut: int) -> None:
    """Each complete line counts; only of the frame at the cut the function's name may be shorter."""
    frames = [frame for thread in parse_threads(TEXT[:cut]) for frame in thread.frames]
    whole = [frame for thread in parse_threads(TEXT) for frame in thread.frames]
    complete = sum(line.startswith("  File") for line in TEXT[:cut].split("\n")[:-1])
    assert frames[:complete] == whole[:complete]
    assert complete <= len(frames) <= complete + 1


@given(st.text())
def test_any_text_is_no_error(text: str) -> None:
    parse_threads(text)
    parse_threads("Current thread 0x1 (most recent call first):\n  File " + text)


def test_odd_names_come_through() -> None:
    text = 'Thread 0x1 (most recent call first):\n  File "/a "b", line 3 in x.py", line 7 in <lambda>\n'
    assert parse_threads(text)[0].frames[0].line in (3, 7)
    frozen = 'Thread 0x1 (most recent call first):\n  File "<frozen importlib>", line 5 in f\n'
    assert parse_threads(frozen)[0].frames == (Frame(file="<frozen importlib>", line=5, function="f", is_users=False),)


SITE = "/venv/lib/python3.11/site-packages"
RUNPY = (("<frozen runpy>", 88, "_run_code"), ("<frozen runpy>", 198, "_run_module_as_main"))
TRAIN = (f"{SITE}/mypackage/train.py", 12, "main")
MODULE = (f"{SITE}/mypackage/train.py", 30, "<module>")
LOAD = (f"{SITE}/mypackage/data/load.py", 7, "produce")
REQUEST = (f"{SITE}/requests/api.py", 73, "get")
BOOTSTRAP = ("/usr/lib/python3.11/threading.py", 1002, "_bootstrap")
Stack = tuple[tuple[str, int, str], ...]


def by_faulthandler(*stacks: Stack) -> str:
    heads = ["Current thread 0x1", *(f"Thread 0x{number}" for number in range(2, 9))]
    return "".join(
        f"{head} (most recent call first):\n"
        + "".join(f'  File "{file}", line {line} in {function}\n' for file, line, function in stack)
        for head, stack in zip(heads, stacks, strict=False)
    )


def by_py_spy(*stacks: Stack) -> list[dict[str, object]]:
    return [
        {
            "os_thread_id": number,
            "frames": [{"filename": file, "line": line, "name": function} for file, line, function in stack],
        }
        for number, stack in enumerate(stacks, 1)
    ]


def owners(*stacks: Stack) -> list[list[bool | None]]:
    """Whose each frame is, as both say."""
    answer = [[frame.is_users for frame in thread.frames] for thread in parse_threads(by_faulthandler(*stacks))]
    assert answer == [[frame.is_users for frame in thread.frames] for thread in parse_dump(by_py_spy(*stacks), pid=1)]
    return answer


def test_an_installed_package_that_is_run_is_the_users_own() -> None:
    main, feeder = owners((REQUEST, TRAIN, MODULE, *RUNPY), (REQUEST, LOAD, BOOTSTRAP))
    assert main == [False, True, True, False, False]
    assert feeder == [False, True, False]
    (thread,) = parse_threads(by_faulthandler((REQUEST, TRAIN, MODULE, *RUNPY)))
    assert users_line(thread.frames) == Place(*TRAIN[:2], is_users=True)


def test_a_package_that_a_script_uses_is_a_library() -> None:
    script = ("/home/me/run.py", 3, "<module>")
    assert owners((REQUEST, TRAIN, script)) == [[False, False, True]]
    assert owners((TRAIN, MODULE, BOOTSTRAP)) == [[False, False, False]], "another thread imports it"


def test_a_module_that_is_a_package_by_itself() -> None:
    """As ipykernel_launcher: all that is installed beside it is not the user's."""
    assert owners((REQUEST, (f"{SITE}/launcher.py", 9, "<module>"), *RUNPY)) == [[False, True, False, False]]


def test_a_stack_that_is_cut_still_tells_by_its_outermost_frame() -> None:
    deep = ((REQUEST,) * (2 * MAX_FRAMES), (TRAIN, MODULE))
    (thread,) = parse_dump(by_py_spy((*deep[0], *deep[1])), pid=1)
    assert len(thread.frames) == MAX_FRAMES
    (deeper,) = parse_dump(by_py_spy((TRAIN, *deep[0], MODULE)), pid=1)
    assert deeper.frames[0].is_users


@pytest.mark.parametrize("outer", ["/usr/lib/python3.11/multiprocessing/spawn.py", "<string>"])
def test_a_child_runs_the_program_of_its_parent(outer: str) -> None:
    parent = parse_dump(by_py_spy((TRAIN, MODULE, *RUNPY)), pid=1)
    spawned = by_py_spy((LOAD, (outer, 1, "<module>")))
    assert parse_dump(spawned, 1)[0].frames[0].is_users is False
    assert parse_dump(spawned, 1, package_of(parent))[0].frames[0].is_users is True
    assert package_of(parse_dump(by_py_spy((REQUEST, ("/home/me/run.py", 3, "<module>"))), pid=1)) == ""
