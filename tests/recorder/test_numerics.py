"""The numbers of a step: the first bad one is caught as it happens, in every kind of training. Real programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from laststep.record.events.numbers import BadNumber, BadValues, Gradients, Numbers, StaleValue
from laststep.record.run import Run
from tests.recorder.real import line_of, record

pytestmark = pytest.mark.slow
LOOPS = """
import numpy as np
import tensorflow as tf
import keras
x = np.random.default_rng(3).random((320, 8), dtype="float32")
y = x.sum(axis=1, keepdims=True)
x[230, 5] = np.inf
names = []

def loop(name, kind, with_object):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)], name=name)
    optimizer, mse = keras.optimizers.Adam(), keras.losses.MeanSquaredError()
    model.build((None, 8))
    def step(xb, yb):
        with tf.GradientTape() as tape:
            out = model(xb, training=True)
            loss = mse(yb, out) if with_object else tf.reduce_mean((out - yb) ** 2)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss
    run = {"graph": tf.function, "xla": tf.function(jit_compile=True), "eager": lambda f: f}[kind](step)
    for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).batch(32):
        run(xb, yb)
    time.sleep(0.6)

loop("graph", "graph", False)
loop("object", "graph", True)
loop("xla", "xla", True)
loop("eager", "eager", False)
say("done")
"""
OLD_OPTIMIZER = """
import numpy as np
import tensorflow as tf
import tf_keras
x = np.random.default_rng(3).random((320, 8), dtype="float32")
x[230, 5] = np.inf
model = tf_keras.Sequential([tf_keras.layers.Dense(16, activation="tanh"), tf_keras.layers.Dense(1)], name="old")
optimizer = tf_keras.optimizers.legacy.SGD(0.01)  # creates its step counter while the first step is traced

@tf.function
def step(xb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(xb, training=True) - 1.0) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

for xb in tf.data.Dataset.from_tensor_slices(x).batch(32):
    step(xb)
time.sleep(0.6)
say("done")
"""
FIT = """
import numpy as np
import keras
{first}
x = np.random.default_rng(3).random((320, 8), dtype="float32")
y = (x.sum(axis=1) > 4).astype("int32")
x[230, 5] = np.nan
keras.utils.set_random_seed(1)
model = keras.Sequential([
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(2, activation="softmax"),  # <- last
])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(x, y, batch_size=32, shuffle=False, epochs=2, verbose=0)
say("done")
"""
HEALTHY = """
import numpy as np
import tensorflow as tf
import keras
rng = np.random.default_rng(3)

# half precision: the first loss scale is too high on purpose, and steps are skipped until it fits
keras.mixed_precision.set_global_policy("mixed_float16")
x = rng.random((256, 8), dtype="float32")
model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, dtype="float32")])
scaled = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam(), initial_scale=2.0**40)
model.compile(scaled, "mse")
model.fit(x, x.sum(axis=1), epochs=2, verbose=0)
keras.mixed_precision.set_global_policy("float32")

# an embedding, with sparse gradients
words = keras.Sequential([keras.layers.Embedding(1000, 8), keras.layers.GlobalAveragePooling1D(),
                          keras.layers.Dense(1, activation="sigmoid")])
words.compile("adam", "binary_crossentropy")
tokens = rng.integers(0, 1000, (256, 12))
words.fit(tokens, (tokens < 500).mean(axis=1) > 0.5, verbose=0)

# a gradient penalty: the gradient with respect to an input, inside another gradient
critic = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
adam = keras.optimizers.Adam()
@tf.function
def step(batch):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(batch)
            score = critic(batch)
        slope = inner.gradient(score, batch)
        loss = tf.reduce_mean(score) + tf.reduce_mean((tf.norm(slope, axis=1) - 1) ** 2)
    adam.apply_gradients(zip(outer.gradient(loss, critic.trainable_variables), critic.trainable_variables))
    return loss
for _ in range(20):
    step(tf.constant(x))
say("done")
"""
EXACT = """
import numpy as np
import keras
from laststep.recorder.probes.numerics import reader
keras.utils.set_random_seed(1)
x = np.random.default_rng(3).random((32 * 1800, 8), dtype="float32")
y = x.sum(axis=1, keepdims=True)
x[32 * 1500] = np.inf
class Save(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        if batch == 1500:
            say("before", held=[variable.host_read().size for variable in reader.sites[-1][1].weights])
            np.savez("before.npz", *self.model.get_weights())
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
model.compile("adam", "mse", jit_compile=False)
model.fit(x, y, shuffle=False, verbose=0, callbacks=[Save()])
time.sleep(0.6)
sentinel = reader.sites[-1][1]
say("after", held=[v.host_read().size for v in sentinel.weights], out=sentinel.out.host_read().tolist()[0])
sentinel.detach()  # as if the model were gone; a step that still runs must not be affected
model.fit(x[:64], y[:64], verbose=0)
"""
INSIDE_XLA = """
import tensorflow as tf
x = tf.ones((4, 8))
weights = tf.Variable(tf.zeros((8, 1)))
@tf.function
def step(batch):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((batch @ weights - 1.0) ** 2)
    weights.assign_sub(0.1 * tape.gradient(loss, weights))
    return loss
step(x)
say("done", loss=float(tf.function(lambda batch: step(batch), jit_compile=True)(x)))
"""
SAVED = """
import numpy as np
import tensorflow as tf
import keras
x = np.random.default_rng(3).random((64, 8), dtype="float32")
y = x.sum(axis=1, keepdims=True)

class Module(tf.Module):
    def __init__(self):
        self.w = tf.Variable(tf.zeros((8, 1)))
    @tf.function
    def train(self, xb, yb):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((xb @ self.w - yb) ** 2)
        self.w.assign_sub(0.1 * tape.gradient(loss, self.w))
        return loss
    @tf.function(input_signature=[tf.TensorSpec((None, 8)), tf.TensorSpec((None, 1))])
    def signed(self, xb, yb):
        return self.train(xb, yb)

module = Module()
for _ in range(5):
    module.train(tf.constant(x), tf.constant(y))
    module.signed(tf.constant(x), tf.constant(y))
tf.saved_model.save(module, "module", signatures={"train": module.signed})
loaded = tf.saved_model.load("module")
say("module", loss=float(loaded.train(tf.constant(x), tf.constant(y))),
    names=[name for name, _ in tf.train.list_variables("module/variables/variables")])

class Own(keras.layers.Layer):  # has no __init__ of its own
    def call(self, x):
        return x * 2
model = keras.Sequential([keras.Input((8,)), Own(name="own"), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y, verbose=0)
model.export("exported", verbose=False)
model.save("model.keras")
tf.saved_model.save(model, "saved")
model.fit(x, y, verbose=0)
again = keras.models.load_model("model.keras", custom_objects={"Own": Own})
say("model", same=bool(np.allclose(again.predict(x, verbose=0), again.predict(x, verbose=0))))
"""
FROZEN = """
import numpy as np
import tensorflow as tf
import keras
x = np.random.default_rng(3).random((64, 8), dtype="float32")
y = x.sum(axis=1)
w = tf.Variable(tf.zeros((8, 1)))
rate, scale = 0.1, 1.0

@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((yb - xb @ w) ** 2) * scale  # <- broadcast
    w.assign_sub(rate * tape.gradient(loss, w))  # <- frozen
    return loss

for epoch in range(30):
    step(tf.constant(x), tf.constant(y))
    rate *= 0.9
    time.sleep(0.02)
say("done")
"""


def bad(run: Run) -> dict[str, BadNumber]:
    """The first bad step of each model, by its name."""
    models = {event.site: event.model.name for event in run.all(Gradients)}
    return {models[event.site]: event for event in run.all(BadNumber)}


def test_every_kind_of_loop_catches_the_batch_in_the_act(tmp_path: Path) -> None:
    _, run = record(tmp_path, LOOPS)
    found = bad(run)
    assert set(found) == {"graph", "object", "xla", "eager"}
    for name, event in found.items():
        (values,) = (values for role, values in event.inputs.items() if role.startswith("x/"))
        assert (values.inf, values.samples, values.features) == (1, (6,), (5,)), name
    # Counted by each optimizer, from the first step of its loop; the recorder counts the steps of all loops together.
    assert [event.step for event in found.values()] == [8, 18, 28, 38]


def test_an_optimizer_that_makes_its_count_inside_the_trace(tmp_path: Path) -> None:
    _, run = record(tmp_path, OLD_OPTIMIZER)
    assert bad(run)["old"].step == 8


def test_a_nan_that_a_fused_relu_swallows_is_seen_and_found_in_the_data(tmp_path: Path) -> None:
    _, run = record(tmp_path, FIT.format(first=""))
    (event,) = run.all(BadNumber)
    assert (event.step, event.inputs["x"].samples) == (8, (6,))
    assert event.data["x"] == BadValues(nan=1, inf=0, of=2560, samples=(230,), features=(5,), shape=(320, 8))
    assert run.folder is not None
    with np.load(run.folder / "kept.npz", allow_pickle=False) as kept:
        assert np.isnan(kept["batch/x"][6, 5])
        assert all(np.isfinite(kept[name]).all() for name in kept if name.startswith("weights/"))
        assert len([name for name in kept if name.startswith("weights/")]) == 4
    measured = run.all(Numbers)[0].site
    site = next(event for event in run.all(Gradients) if event.site == measured)
    assert (site.losses[0].made_by, site.losses[0].from_logits) == ("Softmax", None)
    last = site.model.layers[-1]
    assert last.where is not None
    assert (last.activation, last.where.line) == ("softmax", line_of(FIT.format(first=""), "last"))


def test_the_weights_that_the_bad_step_started_from_are_kept_and_none_before(tmp_path: Path) -> None:
    said, run = record(tmp_path, EXACT)
    (event,) = run.all(BadNumber)
    assert (event.step, event.weights_of) == (1501, 1500)
    assert run.folder is not None
    with np.load(run.folder / "kept.npz", allow_pickle=False) as kept, np.load(tmp_path / "before.npz") as before:
        weights = [kept[name] for name in kept if name.startswith("weights/")]
        assert [weight.tobytes() for weight in weights] == [before[name].tobytes() for name in before]
    # Memory is used only between the bad step and its recording.
    assert said["before"]["held"] == said["after"]["held"] == [0, 0, 0, 0]
    assert said["after"]["out"] == 1.0


def test_a_step_that_was_traced_alone_is_compiled_inside_another_function(tmp_path: Path) -> None:
    said, run = record(tmp_path, INSIDE_XLA)
    assert "done" in said
    assert run.all(Gradients)


def test_private_data_is_not_kept(tmp_path: Path) -> None:
    _, run = record(tmp_path, FIT.format(first=""), LASTSTEP_KEEP_LAST_BATCH="0")
    assert run.folder is not None
    assert [path.name for path in run.folder.iterdir() if "kept" in path.name] == []
    assert run.all(BadNumber)[0].kept is False


def test_healthy_numbers_are_not_bad(tmp_path: Path) -> None:
    _, run = record(tmp_path, HEALTHY)
    assert bad(run) == {}
    measured = {event.site for event in run.all(Numbers)}
    sparse = [event for event in run.all(Gradients) if "embedding" in str(event.variables)]
    assert measured & {event.site for event in sparse}


def test_what_is_saved_holds_nothing_of_ours(tmp_path: Path) -> None:
    said, run = record(tmp_path, SAVED)
    assert run.all(Numbers)
    assert not [name for name in said["module"]["names"] if "laststep" in name]
    (tmp_path / "bare").mkdir()
    bare, _ = record(tmp_path / "bare", SAVED, recorded=False)
    assert said == bare


def test_a_number_that_the_trace_froze_and_targets_that_were_broadcast(tmp_path: Path) -> None:
    _, run = record(tmp_path, FROZEN)
    (stale,) = run.all(StaleValue)
    assert (stale.name, stale.line, stale.before) == ("rate", line_of(FROZEN, "frozen"), 0.1)
    broadcast = run.all(Gradients)[-1].broadcast
    assert broadcast is not None
    assert broadcast.where is not None
    assert (broadcast.op, broadcast.shapes, broadcast.out) == ("Sub", ((64,), (64, 1)), (64, 64))
    assert broadcast.where.line == line_of(FROZEN, "broadcast")


REMOVED = """
import numpy as np
import keras
from laststep.recorder import patch
keras.layers.Dense(3), keras.optimizers.SGD(0.1)
patch.restore()
class Own(keras.layers.Layer):
    def call(self, x):
        return x
model = keras.Sequential([Own(name="own"), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(0.1), "mse")
model.fit(np.ones((4, 2)), np.ones(4), verbose=0)
say("done")
"""


def test_layers_and_optimizers_are_made_as_ever_once_the_probes_are_taken_out(tmp_path: Path) -> None:
    said, _ = record(tmp_path, REMOVED)
    assert "done" in said
