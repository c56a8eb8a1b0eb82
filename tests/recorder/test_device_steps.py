"""A step on an accelerator: the host waits for none of its values. A second logical CPU stands in for the GPU.

TensorFlow places, splits and runs a step on CPU:1 as on GPU:0: tensors on CPU:0 are on another device and have to be
sent. bench/gpu.py measures the cost on a real GPU.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from laststep.record.events.numbers import BadNumber, BadValues, Gradients, Numbers
from tests.recorder.real import record

pytestmark = pytest.mark.slow
TWO_DEVICES = """
import hashlib
import numpy as np
import tensorflow as tf
(cpu,) = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
tf.config.threading.set_intra_op_parallelism_threads(1)
import keras

HOST = "CPU:0"
BRANCHES = {"If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile", "Switch", "Merge", "LoopCond"}

def waits(graph):
    # Our operations that need a value of the device on the host: branches, and operations placed on the host.
    held = {symbol.name: eager for eager, symbol in graph.captures}
    def on_host(tensor):
        if tensor.name in held:
            return held[tensor.name].device.endswith(HOST)
        given = [source for source in tensor.op.inputs]
        return tensor.op.device.endswith(HOST) and all(map(on_host, given)) or tensor.op.type == "Const"
    ours = [op for op in graph.get_operations() if "laststep/" in op.name]
    branches = [op for op in ours if op.type in BRANCHES]
    placed = [op for op in ours if op.device.endswith(HOST)]
    bad = [op.name for op in branches if not on_host(op.inputs[0])]
    return bad + [op.name for op in placed if not all(map(on_host, op.inputs))], len(ours), len(branches)

graphs = []
def remember_graphs(kind):
    original = kind.__init__
    def remembered(self, step):
        original(self, step)
        graphs.append(tf.compat.v1.get_default_graph())
    kind.__init__ = remembered

def report(name):
    numerics = sys.modules["laststep.recorder.probes.numerics"]
    with numerics.reader.lock:  # as our thread does from time to time
        numerics.reader.read()
    found = [waits(graph) for graph in graphs]
    say(name, waits=[op for one in found for op in one[0]], ours=[one[1] for one in found],
        branches=[one[2] for one in found])
    graphs.clear()

rng = np.random.default_rng(3)
x = rng.random((3200, 8), dtype="float32")
y = x.sum(axis=1, keepdims=True)
"""
KINDS = """
from laststep.recorder.numbers import device_sentinel
remember_graphs(device_sentinel.DeviceSentinel)

with tf.device("CPU:1"):
    w = tf.Variable(tf.zeros((8, 1)))
def update(xb, yb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((xb @ w - yb) ** 2)
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss
step = tf.function(update)
def loop(step, name):
    with tf.device("CPU:1"):
        for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).batch(32):
            loss = step(xb, yb)
    report(name)
    return float(loss)
loop(step, "loop")
# XLA compiles a function that calls another one, which already has a sentinel
compiled = tf.function(lambda xb, yb: step(xb, yb), jit_compile=True)
assert loop(compiled, "compiled") < 1
assert loop(step, "after") < 1

def fit(name, x=x, y=y, layers=(), epochs=1, **settings):
    keras.utils.set_random_seed(1)
    with tf.device("CPU:1"):
        model = keras.Sequential([*layers, keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)], name=name)
        model.compile(settings.pop("optimizer", "adam"), "mse", **settings)
        model.fit(x, y, verbose=0, epochs=epochs)
    report(name)

fit("plain", epochs=10)
fit("jit", jit_compile=True, epochs=10)
fit("executions", steps_per_execution=4)
keras.config.set_dtype_policy("mixed_float16")
fit("mixed", epochs=20)
keras.config.set_dtype_policy("float32")
fit("sparse", rng.integers(0, 50, (640, 6)), y[:640], [keras.layers.Embedding(50, 4), keras.layers.Flatten()])
"""
OLD = """
from laststep.recorder.numbers import device_sentinel, sentinel
device_sentinel.is_on_host = lambda device: True  # a branch on the device's own values, as in an earlier version
remember_graphs(sentinel.Sentinel)
with tf.device("CPU:1"):
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(x, y, verbose=0)
report("old")
"""
BAD = """
x[32 * 60 + 5, 3] = np.nan
with tf.device("CPU:1"):
    for name, jit in (("plain", False), ("jit", True)):
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)], name=name)
        model.compile("adam", "mse", jit_compile=jit)
        model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(32, drop_remainder=True), verbose=0)
        time.sleep(0.6)
say("done")
"""
SAME = """
def digest(**settings):
    keras.utils.set_random_seed(1)
    with tf.device("CPU:1"):
        layers = [keras.layers.Dense(16, activation="relu"), keras.layers.Dropout(0.3), keras.layers.Dense(1)]
        model = keras.Sequential(layers)
        model.compile("adam", "mse", **settings)
        model.fit(x, y, epochs=3, verbose=0)
    return hashlib.sha256(b"".join(np.ascontiguousarray(w).tobytes() for w in model.get_weights())).hexdigest()
say("digests", plain=digest(), jit=digest(jit_compile=True), executions=digest(steps_per_execution=4))
"""


FETCHED = """
from laststep.recorder.probes.data_wait import _traced_waits
def marks(data):
    before = len(_traced_waits)
    with tf.device("CPU:1"):
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(data, verbose=0)
    return len(_traced_waits) - before
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
say("marks", host=marks(data), device=marks(data.apply(tf.data.experimental.prefetch_to_device("/cpu:1"))))
"""


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Any]:
    return record(tmp_path_factory.mktemp("kinds"), TWO_DEVICES + KINDS)


@pytest.mark.parametrize("name", ["plain", "jit", "executions", "mixed", "sparse", "loop", "compiled"])
def test_nothing_of_ours_waits_for_the_device(kinds: tuple[dict[str, Any], Any], name: str) -> None:
    said, _ = kinds
    assert said[name]["ours"], "no sentinel was inserted"
    assert all(said[name]["ours"])
    assert said[name]["waits"] == []


def test_no_branch_at_all_under_xla(kinds: tuple[dict[str, Any], Any]) -> None:
    said, _ = kinds
    assert set(said["jit"]["branches"]) == {0}
    assert set(said["compiled"]["branches"]) == {0}


def test_a_branch_on_the_devices_own_values_would_be_found(tmp_path: Path) -> None:
    said, _ = record(tmp_path, TWO_DEVICES + OLD)
    assert any("cond" in name for name in said["old"]["waits"])


def test_numbers_are_measured_there_all_the_same(kinds: tuple[dict[str, Any], Any]) -> None:
    _, run = kinds
    names = {event.site: event.model.name for event in run.all(Gradients)}
    measured = {names[event.site] for event in run.all(Numbers)}
    assert {"plain", "jit", "mixed", "sparse"} <= measured
    assert run.all(BadNumber) == []


def test_the_first_bad_step_is_known_and_under_xla_its_batch(tmp_path: Path) -> None:
    _, run = record(tmp_path, TWO_DEVICES + BAD)
    names = {event.site: event.model.name for event in run.all(Gradients)}
    found = {names[event.site]: event for event in run.all(BadNumber)}
    assert found["plain"].step == 61
    assert found["jit"].step == 100 + 61
    assert found["jit"].inputs["x"] == BadValues(nan=1, inf=0, of=256, samples=(5,), features=(3,), shape=(32, 8))
    assert found["plain"].inputs == {}, "the batch is not kept there"


def test_a_batch_that_lies_on_the_device_already_is_not_waited_for(tmp_path: Path) -> None:
    said, _ = record(tmp_path, TWO_DEVICES + FETCHED)
    assert said["marks"]["host"] > 0
    assert said["marks"]["device"] == 0


def test_the_weights_are_the_same_to_the_bit(tmp_path: Path) -> None:
    (tmp_path / "with").mkdir()
    said, _ = record(tmp_path / "with", TWO_DEVICES + SAME)
    (tmp_path / "bare").mkdir()
    bare, _ = record(tmp_path / "bare", TWO_DEVICES + SAME, recorded=False)
    assert said["digests"] == bare["digests"]
