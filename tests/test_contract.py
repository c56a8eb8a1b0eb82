"""With and without laststep: the same output, the same end, the same numbers to the last bit."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness import Ran, Scenario, all_scenarios, run_program, scenario, steady

pytestmark = pytest.mark.slow

Run = Callable[[Scenario], Ran]

REPRESENTATIVES = {
    "aborted",
    "callback_raised",
    "callback_swallowed",
    "early_stopping__tf_keras",
    "healthy__dataset",
    "healthy__gan",
    "interrupted__caught",
    "killed_by_signal__itself",
    "script_exited__message",
    "script_exited__os_exit",
    "segmentation_fault__faulthandler",
    "terminated",
    "unhandled_exception__tf_function",
    "unhandled_exception__thread",
}
# The signal raises an exception wherever it strikes, or TensorFlow's own text differs from one bare run to the next.
STRIKES_ANYWHERE = {
    "interrupted",
    "interrupted__eager_loop",
    "peer_lost__parameter_server",
    "terminated__handler_raises",
}

with_and_without = pytest.mark.parametrize(
    "asked",
    [
        pytest.param(
            asked,
            id=asked.name,
            marks=[pytest.mark.xdist_group(asked.name), *([] if asked.name in REPRESENTATIVES else [pytest.mark.all])],
        )
        for asked in all_scenarios()
        if not asked.stall  # which never ends without laststep
    ],
)


def test_the_representatives_exist() -> None:
    assert {asked.name for asked in all_scenarios()} >= REPRESENTATIVES | STRIKES_ANYWHERE


def without_our_threads(stderr: bytes) -> bytes:
    """The program's own faulthandler shows all threads, so also our two: the README says so."""
    line, head = rb"  File [^\n]*\n", rb"Thread 0x\w+ \(most recent call first\):\n"
    ours = rb"  File [^\n]*/laststep/recorder/[^\n]*\n"
    return re.sub(head + rb"(?:" + line + rb")*?" + ours + rb"(?:" + line + rb")*\n", b"", stderr)


def test_only_threads_of_ours_are_left_out() -> None:
    theirs = b'Thread 0x1a (most recent call first):\n  File "/home/me/train.py", line 3 in wait\n\n'
    deep = (
        b'  File "<frozen importlib>", line 1 in find\n  File "/x/laststep/recorder/memory_census.py", line 2 in take\n'
    )
    current = b"Current thread 0x2b (most recent call first):\n" + deep + b"\n"
    assert without_our_threads(theirs + b"Thread 0x3c (most recent call first):\n" + deep + b"\n" + current) == (
        theirs + current
    )


@with_and_without
def test_nobody_can_tell_the_difference(asked: Scenario, recorded: Run, bare: Run) -> None:
    with_it, without = recorded(asked), bare(asked)
    assert without.status == asked.exit, "the scenario itself is not as it says"
    assert with_it.status == without.status
    assert steady(with_it.stdout, with_it.cwd) == steady(without.stdout, without.cwd)
    if asked.name not in STRIKES_ANYWHERE:
        assert steady(without_our_threads(with_it.own_stderr), with_it.cwd) == steady(without.stderr, without.cwd)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.xdist_group(name))
        for name in ("callback_raised", "unhandled_exception__tf_function")
    ],
)
def test_the_traceback_is_the_same_text(name: str, recorded: Run, bare: Run) -> None:
    with_it, without = recorded(scenario(name)), bare(scenario(name))
    theirs = without.stderr.decode().partition("Traceback (most recent call last):")[2]
    ours = with_it.own_stderr.decode().partition("Traceback (most recent call last):")[2]
    assert "train.py" in theirs, "this scenario shows no traceback of the user's own"
    assert "recorder" not in ours
    # TensorFlow numbers the functions of a process, ours too: [Op:__inference_train_step_716]
    ours, theirs = (re.sub(r"(\[Op:__inference_\w+)_\d+\]", r"\1]", text) for text in (ours, theirs))
    assert ours.replace(str(with_it.cwd), "") == theirs.replace(str(without.cwd), "")


START = """
import hashlib
import numpy as np
import tensorflow as tf
{keras}

tf.config.experimental.enable_op_determinism()
x = np.random.default_rng(3).random((160, 8), dtype="float32")
y = x.sum(axis=1, keepdims=True)


def small_model():
    return keras.Sequential([
        keras.layers.Dense(32, activation="relu"), keras.layers.Dropout(0.2), keras.layers.Dense(1)
    ])


def dataset(epochs=1):
    return tf.data.Dataset.from_tensor_slices((x, y)).shuffle(160).batch(16).repeat(epochs)


def fit(model=None, data=None, **settings):
    model = model or small_model()
    model.compile(optimizer="adam", loss="mse", **settings)
    model.fit(dataset() if data is None else data, epochs=3, steps_per_epoch=10 if data else None, verbose=0)
    return model
"""

END = """
for name, make in VARIANTS.items():
    keras.backend.clear_session()
    keras.utils.set_random_seed(11)
    model = make()
    digest = hashlib.sha256()
    for weights in model.get_weights():
        digest.update(np.ascontiguousarray(weights).tobytes())
    print(name, len(model.get_weights()), digest.hexdigest())
"""

NOISY = """
class Noisy(keras.Model):
    # What we put into its graph must not shift the seeds of the random numbers in it.
    def __init__(self):
        super().__init__()
        self.net = small_model()

    def call(self, x, training=False):
        return self.net(x, training=training)

    def train_step(self, data):
        x, y = data
        x = x + tf.random.normal(tf.shape(x), stddev=0.1)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(x, training=True) - y - tf.random.uniform(())) ** 2)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}
"""

KERAS_FITS = """
class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.net = small_model()

    def call(self, x, training=False):
        return self.net(x, training=training)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(x, training=True) - y) ** 2)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


def batches():
    rng = np.random.default_rng(5)
    while True:
        rows = rng.integers(0, 160, 16)
        yield x[rows], y[rows]


def mixed_precision():
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        return fit()
    finally:
        keras.mixed_precision.set_global_policy("float32")


VARIANTS = {
    "fit": fit,
    "jit_compile": lambda: fit(jit_compile=True),
    "steps_per_execution": lambda: fit(steps_per_execution=4),
    "run_eagerly": lambda: fit(run_eagerly=True),
    "train_step": lambda: fit(Own()),
    "noisy_step": lambda: fit(Noisy()),
    "noisy_executions": lambda: fit(Noisy(), steps_per_execution=4),
    "mixed_precision": mixed_precision,
    "generator": lambda: fit(data=batches()),
}
"""

TF_KERAS_FITS = """
def batches():
    rng = np.random.default_rng(5)
    while True:
        rows = rng.integers(0, 160, 16)
        yield x[rows], y[rows]


VARIANTS = {
    "fit": fit,
    "jit_compile": lambda: fit(jit_compile=True),
    "steps_per_execution": lambda: fit(steps_per_execution=4),
    "run_eagerly": lambda: fit(run_eagerly=True),
    "noisy_step": lambda: fit(Noisy()),
    "noisy_executions": lambda: fit(Noisy(), steps_per_execution=4),
    "generator": lambda: fit(data=batches()),
}
"""

LOOPS = """
def loop(wrap):
    model, optimizer = small_model(), keras.optimizers.Adam()
    model.build((None, 8))
    optimizer.build(model.trainable_variables)

    def train_step(features, target):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(features, training=True) - target) ** 2)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    train_step = wrap(train_step)
    for features, target in dataset(epochs=3):
        train_step(features, target)
    return model


VARIANTS = {
    "eager_loop": lambda: loop(lambda step: step),
    "tf_function_loop": lambda: loop(tf.function),
    "jit_compiled_loop": lambda: loop(tf.function(jit_compile=True)),
}
"""

PROGRAMS = {
    "keras": START.format(keras="import keras") + NOISY + KERAS_FITS + END,
    "tf_keras": START.format(keras="import tf_keras as keras") + NOISY + TF_KERAS_FITS + END,
    "loops": START.format(keras="import keras") + LOOPS + END,
}
STEPS_OF_ONE = 30  # three epochs of ten batches
VARIANTS = [
    pytest.param(program, name, marks=pytest.mark.xdist_group(program))
    for program, source in PROGRAMS.items()
    for name in re.findall(r'^    "(\w+)": ', source.partition("VARIANTS = {")[2], re.MULTILINE)
]


def weights_of(program: str, base: Path, recorded: bool) -> tuple[Ran, dict[str, str]]:
    """The digest of all weights of each variant, printed by the program itself."""
    path = base / f"weights_{program}.py"
    written = base / f"weights_{program}.{os.getpid()}"  # another worker may be reading it
    written.write_text(PROGRAMS[program])
    written.replace(path)
    ran = run_program(path, base, recorded)
    assert ran.status == 0, ran.stderr.decode()
    return ran, {line.split()[0]: line.partition(" ")[2] for line in ran.stdout.decode().splitlines()}


def test_the_variants_are_known() -> None:
    assert len(VARIANTS) == 19


@pytest.mark.parametrize("program, name", VARIANTS)
def test_the_weights_are_the_same_to_the_last_bit(program: str, name: str, runs_of_this_session: Path) -> None:
    _, with_it = weights_of(program, runs_of_this_session, recorded=True)
    _, without = weights_of(program, runs_of_this_session, recorded=False)
    assert re.fullmatch(r"\d+ [0-9a-f]{64}", without[name])
    assert with_it[name] == without[name]


@pytest.mark.parametrize("program", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in PROGRAMS])
def test_every_step_of_these_was_seen(program: str, runs_of_this_session: Path) -> None:
    """Otherwise the same weights would prove nothing."""
    ran, digests = weights_of(program, runs_of_this_session, recorded=True)
    assert ran.why["findings"] == []
    assert ran.why["run"]["steps"] == STEPS_OF_ONE * len(digests)


def test_other_numbers_would_be_noticed(runs_of_this_session: Path) -> None:
    """The digests do tell one training from another."""
    _, digests = weights_of("keras", runs_of_this_session, recorded=False)
    assert digests["fit"] != digests["mixed_precision"] != digests["generator"]
