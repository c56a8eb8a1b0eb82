"""How long training waits for data, compared with how long a generator slept: in Keras 3, tf_keras and loops."""

from __future__ import annotations

from typing import Any

import pytest

from tests.recorder.real import record

pytestmark = pytest.mark.slow
START = """
import numpy as np
import tensorflow as tf
{keras}
from laststep.recorder import state
from laststep.recorder.probes import data_wait

x, y = np.zeros((16, 8), "float32"), np.zeros((16, 1), "float32")
SLEEP, slept = 0.02, 0.0
def rows(count, sleep):
    global slept
    for _ in range(count):
        began = time.perf_counter()
        time.sleep(sleep)
        slept += time.perf_counter() - began
        yield x, y
def dataset(count, sleep=SLEEP, known=False):
    signature = (tf.TensorSpec((16, 8)), tf.TensorSpec((16, 1)))
    made = tf.data.Dataset.from_generator(lambda: rows(count, sleep), output_signature=signature)
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False  # otherwise the wait overlaps with the step
    made = made.apply(tf.data.experimental.assert_cardinality(count)) if known else made  # tf_keras asks for it
    return made.with_options(options)
def small_model(**settings):
    model = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse", **settings)
    return model
def waited():
    data_wait._read_traced_waits()
    return state.current.waited
def measure(name, train):
    global slept
    train(3)  # tracing is done then
    slept, before, began = 0.0, waited(), time.time()
    train(25)
    took = time.time() - began
    say(name, waited=waited() - before, slept=slept, took=took, waiting=state.current.graph_waiting_since,
        in_python=state.current.waiting_since)
def fit(model, epochs=1, **more):
    return lambda count: model.fit(dataset(count, **more), epochs=epochs, verbose=0)
"""
KERAS = """
measure("fit", fit(small_model()))
measure("at once", fit(small_model(), sleep=0.0))
measure("executions", fit(small_model(steps_per_execution=4), known=True))
measure("epochs", fit(small_model(), epochs=2))
model = small_model()
measure("arrays", lambda count: model.fit(np.zeros((400, 8)), np.zeros((400, 1)), batch_size=16, verbose=0))
measure("eagerly", fit(small_model(run_eagerly=True)))
measure("compiled", fit(small_model(jit_compile=True)))
with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
    mirrored = small_model()
measure("mirrored", fit(mirrored))

from pathlib import Path
from laststep.record.follow import Follower
def hangs():
    yield x, y
    time.sleep(3.5)
    beat = Follower(Path(state.current.folder)).read().beat
    say("hangs", waiting=beat.waiting, step=beat.step - before_steps)
    yield x, y
before_steps, model = state.current.count, small_model()
signature = (tf.TensorSpec((16, 8)), tf.TensorSpec((16, 1)))
options = tf.data.Options()
options.experimental_optimization.inject_prefetch = False
model.fit(tf.data.Dataset.from_generator(hangs, output_signature=signature).with_options(options), verbose=0)
time.sleep(1.2)
say("went on", waiting=Follower(Path(state.current.folder)).read().beat.waiting)

class Between(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        time.sleep(0.7)  # no wait for data: the data is exhausted
        data_wait._read_traced_waits()
        self.seen = (state.current.waited, state.current.graph_waiting_since)
between, model = Between(), small_model()
before = waited()
slept = 0.0
model.fit(dataset(5), epochs=3, verbose=0, callbacks=[between])
say("between", waited=between.seen[0] - before, slept=slept, waiting=between.seen[1])
"""
LOOP = """
def loop(count):
    for features, target in dataset(count):
        time.sleep(0.005)  # duration of the step itself
measure("for", loop)
def taken(count):
    batches = iter(dataset(count))
    for _ in range(count):
        next(batches)
measure("next", taken)
def optional(count):
    batches = iter(dataset(count))
    while batches.get_next_as_optional().has_value():
        pass
measure("optional", optional)
ended = iter(dataset(1, 0.0))
next(ended)
try:
    next(ended)
except StopIteration as error:
    import traceback
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    say("ended", ours=[name for name in files if "laststep" in name], in_python=state.current.waiting_since)
"""
SAVED = """
class Slow(keras.layers.Dense):
    def save_own_variables(self, store):
        say("saving", phase=state.current.phase, save=state.PHASE["save"])
        super().save_own_variables(store)
class Save(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        before = state.current.phase
        self.model.save("model.keras")
        say("saved", same=state.current.phase == before)
model = keras.Sequential([Slow(1)])
model.compile(optimizer="sgd", loss="mse")
model.fit(x, y, verbose=0, callbacks=[Save()])
"""


@pytest.fixture(scope="module")
def keras3(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return record(tmp_path_factory.mktemp("keras"), START.format(keras="import keras") + KERAS + LOOP + SAVED)[0]


@pytest.fixture(scope="module")
def tf_keras(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return record(tmp_path_factory.mktemp("tf_keras"), START.format(keras="import tf_keras as keras") + KERAS)[0]


@pytest.fixture(params=["keras3", "tf_keras"])
def printed(request: pytest.FixtureRequest) -> dict[str, Any]:
    said: dict[str, Any] = request.getfixturevalue(request.param)
    return said


def is_about(printed: dict[str, Any]) -> None:
    """All sleep was counted as waiting, and no more than the training took; closer bounds need an idle machine."""
    assert 0.8 * printed["slept"] < printed["waited"] <= printed["took"], printed


@pytest.mark.parametrize("name", ["fit", "executions", "epochs", "eagerly", "compiled"])
def test_the_wait_is_what_was_slept(printed: dict[str, Any], name: str) -> None:
    is_about(printed[name])


def test_data_that_is_there_is_not_waited_for(printed: dict[str, Any]) -> None:
    assert printed["at once"]["waited"] < 0.5 * printed["fit"]["waited"]
    assert printed["arrays"]["waited"] < 0.5 * printed["fit"]["waited"]


@pytest.mark.parametrize("name", ["fit", "executions", "epochs", "eagerly", "arrays", "compiled", "mirrored"])
def test_after_the_end_nobody_waits(printed: dict[str, Any], name: str) -> None:
    assert printed[name]["in_python"] == 0.0
    assert printed[name]["waiting"] == 0.0


def test_data_that_came_to_its_end_is_not_waited_for_between_epochs(printed: dict[str, Any]) -> None:
    """Keras requests one batch too many to find the end: that wait is never closed in the graph."""
    between = printed["between"]
    assert between["waiting"] == 0.0
    assert between["waited"] < 1.2 * between["slept"] + 0.4


def test_a_wait_that_goes_on_is_reported_with_each_beat(printed: dict[str, Any]) -> None:
    assert 1.0 < printed["hangs"]["waiting"] < 4.5
    assert printed["hangs"]["step"] <= 1
    assert printed["went on"]["waiting"] == 0.0


@pytest.mark.parametrize("name", ["for", "next", "optional"])
def test_loops_of_the_programs_own(keras3: dict[str, Any], name: str) -> None:
    is_about(keras3[name])
    assert keras3[name]["in_python"] == 0.0


def test_the_end_of_the_data_passes_unchanged(keras3: dict[str, Any]) -> None:
    assert keras3["ended"] == {"name": "ended", "ours": [], "in_python": 0.0}


def test_saving_is_a_phase_in_keras_itself(keras3: dict[str, Any]) -> None:
    assert keras3["saving"]["phase"] == keras3["saving"]["save"]
    assert keras3["saved"]["same"] is True
