"""The census finds what grows, by name, and the line that adds to it; it leaves nothing behind."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
import threading
import weakref
from pathlib import Path

import pytest

from laststep.recorder.adding_lines import adding_line
from laststep.recorder.memory_census import collect, take_census
from laststep.recorder.sizes import size_of

PROGRAM = """
import collections, functools, json, sys, threading, time
from laststep.recorder.memory_census import take_census
from laststep.recorder.adding_lines import adding_line

top = []
numbers = [0.0] * 10_000


class Kept:
    shared = {}

    def __init__(self):
        self.history = {"loss": []}

    def keep(self, item):
        self.history["loss"].append(item)  # KEPT
        self.shared[len(self.shared)] = item  # SHARED


def closure():
    inside = []

    def keep(item):
        inside.append(item)  # INSIDE

    return keep


def default(item, box=[]):
    box.append(item)  # BOX


@functools.lru_cache(maxsize=None)
def load(number):
    return bytes(30_000 + number)


last = collections.deque(maxlen=100)
kept, keep = Kept(), closure()


def train(ready, done):
    local = []
    for number in range(100):
        item = bytes(20_000 + number)
        top.append(item)  # TOP
        local.append(item)  # LOCAL
        last.append(item)
        kept.keep(item)
        keep(item)
        default(item)
        load(number)
    ready.set()
    done.wait()


ready, done = threading.Event(), threading.Event()
thread = threading.Thread(target=train, args=(ready, done))
thread.start()
ready.wait()
census = take_census()
done.set()
print(json.dumps([[e["name"], e["length"], e["bytes"], e["kind"], e["most"],
                   (adding_line(e["name"], e["file"]) or {}).get("text")] for e in census["containers"]]))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[object]]:
    import json

    path = tmp_path_factory.mktemp("census") / "train.py"
    path.write_text(PROGRAM)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {entry[0]: entry[1:] for entry in json.loads(done.stdout)}


@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("top", "TOP"),
        ("local", "LOCAL"),
        ("Kept.history['loss']", "KEPT"),
        ("Kept.shared", "SHARED"),
        ("inside", "INSIDE"),
        ("box", "BOX"),
        ("the cache of load()", None),
    ],
)
def test_each_is_found_under_its_name_with_its_line(
    found: dict[str, list[object]], name: str, mark: str | None
) -> None:
    length, size, _, _, text = found[name]
    assert length == 100
    assert size == pytest.approx(100 * 20_000, rel=0.6)
    assert (str(text).endswith(f"# {mark}")) if mark else text is None


def test_what_is_bounded_says_so(found: dict[str, list[object]]) -> None:
    assert found["last"][3] == 100


def test_plain_numbers_are_small(found: dict[str, list[object]]) -> None:
    length, size, *_ = found["numbers"]
    assert (length, size) == (10_000, 240_000)


def test_lines_are_known_where_python_was_asked_to_note_them(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(
        "import io\n"
        "from laststep.recorder.memory_census import take_census\n"
        "hidden = io.BytesIO()\n"
        "hidden.write(bytes(5_000_000))\n"
        "line = (take_census()['lines'] or [{}])[0]\n"
        "print(line.get('line'), line.get('bytes', 0) > 4_000_000)\n"
    )
    for options, expected in (([], "None False"), (["-X", "tracemalloc=8"], "4 True")):
        done = subprocess.run([sys.executable, *options, str(path)], capture_output=True, text=True)
        assert done.stdout.strip() == expected, done.stderr


def test_tuples_that_another_thread_is_building_can_be_finished() -> None:
    """CPython raises SystemError if another reference exists, as gc.get_objects() would."""
    errors, stop = [], threading.Event()

    def build() -> None:
        while not stop.is_set():
            try:
                tuple(sum(range(i)) for i in range(60))
            except SystemError as error:
                errors.append(error)

    thread = threading.Thread(target=build)
    thread.start()
    for _ in range(25):
        take_census()
    stop.set()
    thread.join()
    assert errors == []


GAPS = """
import gc, threading, time
from laststep.recorder.memory_census import take_census

data = [{"a": i, "b": [i]} for i in range(300_000)]
models = [{str(j): [j] for j in range(50)} for i in range(4_000)]  # enough for a long walk
for number in range(20_000):
    globals()[f"name{number}"] = [number]
gc.collect()  # otherwise Python may do so during the census
done = threading.Event()

def work():
    for _ in range(3):
        take_census()
    done.set()

threading.Thread(target=work).start()
longest, all_then, mine_then = 0.0, time.process_time(), time.thread_time()
while not done.is_set():
    mine, all = time.thread_time(), time.process_time()
    longest = max(longest, (all - all_then) - (mine - mine_then))
    mine_then, all_then = mine, all
print(longest)
"""


def test_the_program_goes_on_while_its_objects_are_looked_at(tmp_path: Path) -> None:
    """CPU time of the census between two iterations of the main thread's loop: how long it held the lock."""
    path = tmp_path / "train.py"
    path.write_text(GAPS)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 0.010


def test_a_large_heap_is_not_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    """gc.collect() cannot be cut into slices, and takes a third of a second for three million objects."""
    monkeypatch.setattr("laststep.recorder.memory_census.MAX_ALLOCATED_BLOCKS", sys.getallocatedblocks() // 2)
    assert collect() is None
    monkeypatch.setattr("laststep.recorder.memory_census.MAX_ALLOCATED_BLOCKS", sys.getallocatedblocks() * 2)
    assert collect() is not None


class Thing:
    pass


def test_nothing_is_kept_afterwards() -> None:
    thing = Thing()
    held = [thing] * 50
    seen = weakref.ref(thing)
    take_census()
    del thing, held
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("for x in y:\n    losses.append(x)\n", 2),
        ("losses.append(0)\nfor x in y:\n    losses.append(x)\n", 3),
        ("for x in y:\n    losses += [x]\n", 2),
        ("for x in y:\n    losses[x] = x\n", 2),
        ("for x in y:\n    losses.setdefault(x, []).append(x)\n", 2),
        ("def put(x):\n    losses.append(x)\n", 2),
        ("losses = []\nkeep = losses.append\n", None),
        ("other.append(1)\n", None),
        ("this is no python", None),
    ],
)
def test_the_line_that_puts_something_in(tmp_path: Path, source: str, line: int | None) -> None:
    path = tmp_path / f"train{abs(hash(source))}.py"
    path.write_text(textwrap.dedent(source))
    where = adding_line("losses", str(path))
    assert (where["line"] if where else None) == line


def test_of_several_keys_the_right_one(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("for x in y:\n    history['loss'].append(x)\n    history['grads'].append(x)\n")
    where = adding_line("history['grads']", str(path))
    assert where is not None
    assert where["line"] == 3


def test_sizes_without_reading() -> None:
    numpy = pytest.importorskip("numpy")
    assert size_of(numpy.ones((10, 10)))[0] == 800
    size, kind = size_of((1.0, numpy.ones(1000)))
    assert size > 8000
    assert kind == "ndarray"
