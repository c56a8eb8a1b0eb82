"""laststep profile: real trainings whose steps are slow for a known reason, and runs that can't be profiled."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from laststep.record.events.process import RecorderStart
from laststep.record.journal import read_journal

START = """
import os, time
import numpy as np
import keras
import tensorflow as tf

assert not [name for name in os.environ if name.startswith("LASTSTEP_")]
keras.utils.set_random_seed(7)
x = np.random.default_rng(1).random((1600, 64), dtype="float32")
y = x.sum(axis=1, keepdims=True)


def model(units=8, **settings):
    net = keras.Sequential([
        keras.Input((64,)), keras.layers.Dense(units, name="wide_one"), keras.layers.Dense(units, name="my_big_one"),
        keras.layers.Dense(8), keras.layers.Dense(1),
    ])
    net.compile("sgd", "mse", **settings)
    return net
"""
SLOW_INPUT = """
def batches():
    while True:
        time.sleep(0.02)
        yield x[:32], y[:32]

model().fit(batches(), steps_per_epoch=40, verbose=0)
"""
HEAVY = """
tf.config.experimental.enable_op_determinism()
net = model(1024)
net.fit(x, y, batch_size=32, verbose=0)
import hashlib
print(hashlib.sha256(b"".join(w.tobytes() for w in net.get_weights())).hexdigest())
"""
SLOW_CALLBACK = """
slow = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: time.sleep(0.02))
model().fit(x, y, verbose=0, callbacks=[slow])
"""
HAND_LOOP = """
net = model(1024)
optimizer = keras.optimizers.SGD()

@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x, training=True) - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss

def train():
    for batch in tf.data.Dataset.from_tensor_slices((x, y)).batch(32):
        step(*batch)

train()
"""
SHORT = "model().fit(x[:480], y[:480], verbose=0)\nprint('all 15 steps')"
VERY_SHORT = "model().fit(x[:160], y[:160], verbose=0)\nraise SystemExit(3)"
OWN_PROFILE = """
model().fit(x, y, verbose=0, callbacks=[keras.callbacks.TensorBoard("logs", profile_batch=({first}, 40))])
import glob
print(len(glob.glob("logs/train/plugins/profile/*/*.xplane.pb")))
"""
COMPILED = "model(64, jit_compile=True).fit(x, y, verbose=0)"
SEVERAL_AT_ONCE = "model(steps_per_execution=4).fit(x, y, batch_size=16, verbose=0)"

Profiled = Callable[..., dict[str, Any]]


@pytest.fixture
def profiled(laststep, here: Path) -> Profiled:
    """Run a program with laststep profile --json; what came of it."""

    def call(program: str, *options: str) -> dict[str, Any]:
        (here / "train.py").write_text(START + program)
        result = laststep("profile", *options, "--json", "--", "python", "train.py")
        lines = result.stdout.splitlines()
        answer = json.loads(lines[-1])
        return answer | {"stdout": lines[:-1], "stderr": result.stderr, "status": result.returncode}

    return call


def dearest_layer(answer: dict[str, Any]) -> str:
    return next(cost["layer"] for cost in answer["time"]["layers"] if not cost["layer"].startswith("("))


def test_no_command(laststep, one_line, here):
    assert "laststep profile python train.py" in one_line(laststep("profile", "--steps", "3"))
    assert not (here / ".laststep").exists()


@pytest.mark.parametrize("words", [("--steps", "0"), ("--after", "-1"), ("--steps", "x"), ("--steps", "1001")])
def test_numbers_that_make_no_sense(laststep, words, here):
    result = laststep("profile", *words, "python", "prog.py")
    assert result.returncode == 2
    assert "hello" not in result.stdout


@pytest.mark.parametrize("code", [0, 3])
def test_a_program_without_a_step(laststep, code):
    result = laststep("profile", "--", "python", "prog.py", str(code))
    assert result.returncode == code
    assert result.stdout == f"hello {code}\n"
    assert "laststep: no profile: no training step was seen\n" in result.stderr


def test_a_run_that_was_not_profiled_has_none_to_show(laststep, one_line, runs_in):
    laststep("run", "--quiet", "python", "prog.py", env={"LASTSTEP_ASKED": "profile=1:5"})
    assert "not profiled" in one_line(laststep("profile", "--show", runs_in()[0].name))


def test_a_launcher_that_replaces_itself_takes_the_wish_along(laststep, here, runs_in):
    (here / "launch.py").write_text("import os, sys\nos.execv(sys.executable, [sys.executable, 'prog.py', '4'])")
    assert laststep("profile", "--after", "3", "--", "python", "launch.py").returncode == 4
    events = [event for path in runs_in()[0].glob("recorder.*") for event in read_journal(path)]
    asked = [event.profile for event in events if isinstance(event, RecorderStart)]
    assert asked == ["3:20", "3:20"]


def test_a_reader_of_the_json_that_is_gone_changes_no_status(laststep, here, environ):
    words = [sys.executable, "-m", "laststep", "profile", "--json", "--", "python", "prog.py", "7"]
    with subprocess.Popen(words, cwd=here, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
        assert running.stdout.readline() == b"hello 7\n"
        running.stdout.close()
        assert running.wait(60) == 7


@pytest.mark.slow
def test_a_slow_generator_is_waiting_for_input(profiled, laststep, runs_in):
    answer = profiled(SLOW_INPUT)
    assert answer["shares"]["input"] > 0.5
    assert sum(answer["shares"].values()) == pytest.approx(1.0, abs=1e-5)
    assert (answer["steps"]["first"], answer["steps"]["last"]) == (11, 30)
    assert answer["time"]["ops"][0] == answer["time"]["ops"][0] | {"layer": "(input)", "op": "PyFunc"}
    page = laststep("profile", "--show", runs_in()[0].name).stdout
    assert "profile of 20 steps" in page
    assert re.search(r"waiting for input +\d\d %  █+", page)
    folder = re.search(r"tensorboard --logdir (\S+)", page)[1]
    assert list((runs_in()[0].parents[1] / folder).glob("plugins/profile/*/*.xplane.pb"))


@pytest.mark.slow
def test_a_heavy_layer_is_named_by_time_and_by_memory(profiled, here):
    answer = profiled(HEAVY, "--after", "5", "--steps", "10")
    assert (answer["steps"]["first"], answer["steps"]["last"]) == (6, 15)
    assert answer["shares"]["compute"] > 0.25
    assert dearest_layer(answer) == "my_big_one"
    layers = [cost["layer"] for cost in answer["time"]["layers"]]
    assert {"wide_one", "dense", "dense_1", "(optimizer)"} <= set(layers)
    dearest = next(cost for cost in answer["time"]["ops"] if cost["layer"] == "my_big_one")
    assert "MatMul" in dearest["op"]
    assert any(cost["backward"] for cost in answer["time"]["ops"] if cost["layer"] == "my_big_one")
    if answer["memory"]["allocator"]:  # not on every processor
        assert next(c for c in answer["memory"]["ops"] if c["layer"] == "my_big_one")["amount"] >= 1024 * 1024 * 4
    bare = subprocess.run([sys.executable, "train.py"], cwd=here, capture_output=True, text=True, check=True)
    assert answer["stdout"] == bare.stdout.splitlines(), "the weights are the same to the bit"


@pytest.mark.slow
def test_a_slow_callback_is_host_work(profiled):
    answer = profiled(SLOW_CALLBACK)
    assert answer["shares"]["host"] > 0.5


@pytest.mark.slow
def test_a_loop_of_the_user_s_own(profiled):
    answer = profiled(HAND_LOOP)
    assert answer["steps"]["last"] - answer["steps"]["first"] == 19
    assert dearest_layer(answer) == "my_big_one"
    assert answer["shares"]["compute"] > 0.2


@pytest.mark.slow
def test_a_run_that_ends_in_the_middle_says_with_how_many_steps(profiled):
    answer = profiled(SHORT)
    assert answer["stdout"] == ["all 15 steps"]
    assert answer["steps"]["last"] == 15
    assert any("5 of 20 steps: the program ended" in note for note in answer["notes"])


@pytest.mark.slow
def test_a_run_that_ends_before_it_says_so(profiled):
    answer = profiled(VERY_SHORT)
    assert answer["status"] == 3
    assert "ended at step 5" in answer["missing"]


@pytest.mark.slow
def test_a_profile_of_the_program_s_own_comes_first(profiled):
    answer = profiled(OWN_PROFILE.format(first=20))
    assert answer["status"] == 0
    assert answer["stdout"] == ["1"]
    assert any("the program began a profile itself" in note for note in answer["notes"])


@pytest.mark.slow
def test_a_profiler_that_is_taken_is_no_crash(profiled):
    answer = profiled(OWN_PROFILE.format(first=5))
    assert answer["status"] == 0
    assert answer["stdout"] == ["1"]
    assert "could not start" in answer["missing"]


@pytest.mark.slow
def test_what_xla_compiled_still_has_its_layers(profiled):
    answer = profiled(COMPILED)
    assert any("XLA" in note for note in answer["notes"])
    assert {"my_big_one", "wide_one"} <= {cost["layer"] for cost in answer["time"]["layers"]}


@pytest.mark.slow
def test_steps_that_run_several_at_once(profiled):
    answer = profiled(SEVERAL_AT_ONCE)
    assert (answer["steps"]["first"], answer["steps"]["last"]) == (13, 32)


PARSE = """
import collections, json, sys
from tensorflow.tsl.profiler.protobuf import xplane_pb2

space = xplane_pb2.XSpace.FromString(open(sys.argv[1], "rb").read())
found = {}
for plane in space.planes:
    for line in plane.lines:
        for event in line.events:
            name = f"{plane.name} {line.name} {plane.event_metadata[event.metadata_id].name}"
            begin = line.timestamp_ns * 1000 + event.offset_ps
            count = found.setdefault(name, [0, 0, 0])
            count[0] += 1
            count[1] += begin
            count[2] += event.duration_ps
json.dump(found, sys.stdout)
"""


@pytest.mark.slow
def test_our_reader_sees_what_tensorflow_s_own_sees(profiled, runs_in):
    from laststep.profile import trace as traces
    from laststep.profile.wire import fields

    profiled(HAND_LOOP)
    (path,) = runs_in()[0].glob("profile/plugins/profile/*/*.xplane.pb")
    theirs = json.loads(subprocess.check_output([sys.executable, "-c", PARSE, str(path)], stderr=subprocess.DEVNULL))
    ours: dict[str, list[int]] = {}
    for data in (value for key, value in fields(memoryview(path.read_bytes())) if key == 1):
        plane = traces._plane(data)
        wanted = dict.fromkeys(plane.events, 1)
        for part in plane.lines:
            line = traces._line(part, traces.ProfileTrace())
            for identity, begin, end, _ in traces._spans(line, wanted, traces.ProfileTrace()):
                count = ours.setdefault(f"{plane.name} {line.name} {plane.events[identity][0]}", [0, 0, 0])
                for position, value in enumerate((1, begin, end - begin)):
                    count[position] += value
    assert len(ours) > 50
    assert ours == theirs
