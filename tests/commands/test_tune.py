"""laststep tune: the program started again for real, its pipeline changed, and nothing of it done after fit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from laststep.analysis.experiments.tune import NotTried, Outcome, Tried, gain_range
from laststep.record.journal import JournalWriter
from laststep.record.place import Place
from laststep.reports import tune as pages

WAITS = """\
import sys, time
import numpy as np
import tensorflow as tf

with open("before.txt", "a") as note:
    note.write("x")

def wait(x):
    time.sleep(0.004)
    return x * 2

def load(x, y):
    x = tf.numpy_function(wait, [x], tf.float32)
    x.set_shape([4])
    return x, y

ds = tf.data.Dataset.from_tensor_slices((np.ones((160, 4), "float32"), np.zeros(160, "float32")))
ds = ds.map(load)
ds = ds.map(lambda x, y: (x + 1, y)).batch(8)
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(ds, epochs=2, verbose=0)
with open("after.txt", "a") as note:
    note.write("x")
"""
BY_HAND = """\
import tensorflow as tf

w = tf.Variable([1.0])
optimizer = tf.keras.optimizers.SGD(0.01)

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w * x) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    return loss

for number in range(20):
    step(tf.constant([float(number)]))
with open("after.txt", "a") as note:
    note.write("x")
"""
GENERATOR = """\
import time
import numpy as np
import tensorflow as tf

def batches():
    while True:
        time.sleep(0.02)
        yield np.ones((8, 4), "float32"), np.zeros(8, "float32")

model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(batches(), steps_per_epoch=10, epochs=1, verbose=0)
"""


def call(here: Path, environ: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "laststep", *words]
    return subprocess.run(command, cwd=here, env=environ, capture_output=True, text=True, timeout=250, check=False)


def probed(here: Path, environ: dict[str, str], program: str) -> tuple[subprocess.CompletedProcess[str], dict]:
    pytest.importorskip("tensorflow")
    (here / "train.py").write_text(program)
    recorded = call(here, environ, "run", "--quiet", sys.executable, "train.py")
    assert recorded.returncode == 0, recorded.stderr
    result = call(here, environ, "tune", "--json", "--seconds", "35")
    return result, json.loads(result.stdout)


@pytest.mark.slow
def test_a_map_that_waits_gains_in_parallel_and_nothing_after_fit_is_done(here, environ):
    result, answer = probed(here, environ, WAITS)
    assert result.returncode == 0, result.stderr
    assert (here / "before.txt").read_text() == "x", "what it writes goes elsewhere in the side run"
    assert (here / "after.txt").read_text() == "x"
    assert "everything before its first fit runs again, nothing after it" in result.stderr
    changes = {change["change"]: change for change in answer["changes"]}
    parallel = changes["run the map in parallel"]
    assert parallel["verdict"] == "gain"
    assert parallel["gain"][0] > 1
    assert parallel["code"] == ".map(load, num_parallel_calls=tf.data.AUTOTUNE)"
    line = WAITS.splitlines().index("ds = ds.map(load)") + 1
    assert (Path(parallel["where"]["file"]).name, parallel["where"]["line"]) == ("train.py", line)
    # All that waiting is in the pipeline: without it, and with its result in memory, steps are much shorter.
    assert answer["bound"]["gain"][0] > 2
    assert changes["keep the result in memory"]["gain"][0] > 2
    assert answer["ms_per_step"] > 8 * 4
    assert answer["fit"]["line"] == WAITS.splitlines().index("model.fit(ds, epochs=2, verbose=0)") + 1
    reasons = {left["because"] for left in answer["not_tried"]}
    assert any("TensorFlow adds a prefetch" in reason for reason in reasons)
    assert any("TensorFlow does it by itself" in reason for reason in reasons)


@pytest.mark.slow
def test_a_loop_of_ones_own_is_refused_in_words_and_ended(here, environ):
    result, answer = probed(here, environ, BY_HAND)
    assert result.returncode == 1
    assert "loop of its own" in answer["failed"]
    assert answer["changes"] == []
    assert (here / "after.txt").read_text() == "x"


@pytest.mark.slow
def test_of_a_generator_only_the_bound_is_known(here, environ):
    result, answer = probed(here, environ, GENERATOR)
    assert result.returncode == 0, result.stderr
    assert answer["changes"] == []
    assert answer["bound"]["gain"][0] > 2
    assert answer["ms_per_step"] > 20


def test_a_program_without_fit(laststep):
    laststep("run", "--quiet", "python", "prog.py")
    result = laststep("tune")
    assert result.returncode == 1
    assert "The program never called fit" in result.stdout
    assert "hello" in result.stderr, "its last words"


def test_a_secret_that_was_not_kept(laststep, one_line):
    laststep("run", "--quiet", "python", "prog.py", "0", "--token", "abc")
    assert "secret" in one_line(laststep("tune"))


def test_a_run_that_is_going_on(laststep, one_line, here):
    folder = here / ".laststep" / "20261116-000000-aaaa"
    folder.mkdir(parents=True)
    from laststep.supervisor.launch import describe_run, open_journal

    journal: JournalWriter = open_journal(folder)
    describe_run(journal, ["python", "prog.py"], 1.0)
    assert "still running" in one_line(laststep("tune"))
    journal.close()


def test_the_folder_is_gone(laststep, one_line, here, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    laststep("run", "--quiet", "--dir", str(here / "runs"), "python", str(here / "prog.py"), cwd=elsewhere)
    elsewhere.rmdir()
    assert "is gone" in one_line(laststep("tune", "--dir", str(here / "runs")))


def test_a_range_is_the_rounds_and_a_little_more_without_one_stall():
    low, high = gain_range([1.9, 2.0, 2.1, 2.0])
    assert low < 1.9 < 2.1 < high < 2.4
    assert gain_range([2.0, 2.0, 2.0]) is None, "three rounds are none"
    low, high = gain_range([1.9, 2.0, 2.1, 2.0, 2.0, 0.2])
    assert low > 1.7, "one pipeline stalled once"
    low, high = gain_range([1.9, 0.3, 2.1, 0.2, 2.0, 2.0])
    assert low < 0.3, "stalls that come often belong to it"


def outcome(**more: object) -> Outcome:
    change = Tried("run the map in parallel", Place("/p/train.py", 22), ".map(load)", "", (1.8, 2.1), 5)
    idle = Tried("map whole batches", Place("/p/train.py", 22), ".batch(8)", "", (0.97, 1.04), 5)
    left = NotTried("fetch the next batch meanwhile", None, "TensorFlow adds a prefetch at the end by itself")
    given: dict = {"where": Place("/p/train.py", 41), "data": "tf.data", "now": 0.041, "bound": (9.8, 10.9)}
    given |= {"rounds": 5, "tried": (change, idle), "not_tried": (left,), "notes": ()}
    return Outcome(**(given | more))


def test_the_page_is_eighty_columns_and_has_the_figures():
    page = pages.page(outcome(), "20261116-1", ["python", "train.py"], "/p")
    assert [line for line in page.splitlines() if len(line) > 80] == []
    assert "41.0 → 19.5 to 22.8 ms per step, 1.80 to 2.10 times as fast" in page
    assert "no gain measured (0.97 to 1.04 times as fast)" in page
    assert "+ .map(load)" in page
    assert "+ .batch(8)" not in page, "what brings nothing is not advised"
    assert "train.py:22" in page


def test_the_page_says_when_the_input_is_not_what_takes_the_time():
    page = " ".join(pages.page(outcome(bound=(0.97, 1.03), tried=()), "1", ["python"], "/p").split())
    assert "it would be no faster" in page
    assert "No change of this input pipeline is known to help" in page
