"""With and without laststep: the same output, the same end, the same numbers to the last bit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.answers import read_answer
from tests.contract import without_our_threads
from tests.harness import Ran, run_program

pytestmark = pytest.mark.slow


def test_only_threads_of_ours_are_left_out() -> None:
    theirs = b'Thread 0x1a (most recent call first):\n  File "/home/me/train.py", line 3 in wait\n\n'
    deep = (
        b'  File "<frozen importlib>", line 1 in find\n  File "/x/laststep/recorder/memory_census.py", line 2 in take\n'
    )
    current = b"Current thread 0x2b (most recent call first):\n" + deep + b"\n"
    assert without_our_threads(theirs + b"Thread 0x3c (most recent call first):\n" + deep + b"\n" + current) == (
        theirs + current
    )


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

# Of unknown length: each epoch ends in a step that gets no data, after what of that step needs none was done.
UNKNOWN_LENGTH = """
class Decays(keras.Model):
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
        for weights in self.trainable_variables:
            weights.assign(0.95 * weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


def rows():
    yield from zip(x, y)


def fit(optimizer, make=small_model, **settings):
    signature = tf.TensorSpec((8,), "float32"), tf.TensorSpec((1,), "float32")
    model = make()
    model.compile(optimizer=optimizer, loss="mse", **settings)
    model.fit(tf.data.Dataset.from_generator(rows, output_signature=signature).batch(16), epochs=3, verbose=0)
    return model


VARIANTS = {
    "adam": lambda: fit(keras.optimizers.Adam()),
    "weight_decay": lambda: fit(keras.optimizers.AdamW(weight_decay=0.1)),
    "own_decay": lambda: fit(keras.optimizers.Adam(), Decays),
}
"""

ACCUMULATED = """
VARIANTS["accumulated"] = lambda: fit(keras.optimizers.Adam(gradient_accumulation_steps=3))
"""

PROGRAMS = {
    "keras": START.format(keras="import keras") + NOISY + KERAS_FITS + END,
    "tf_keras": START.format(keras="import tf_keras as keras") + NOISY + TF_KERAS_FITS + END,
    "loops": START.format(keras="import keras") + LOOPS + END,
    "unknown_length": START.format(keras="import keras") + UNKNOWN_LENGTH + ACCUMULATED + END,
    "unknown_length_tf_keras": START.format(keras="import tf_keras as keras") + UNKNOWN_LENGTH + END,
}
STEPS_OF_ONE = 30  # three epochs of ten batches
VARIANTS = {"keras": 9, "tf_keras": 7, "loops": 3, "unknown_length": 4, "unknown_length_tf_keras": 3}


def digests(ran: Ran) -> dict[str, str]:
    """Of all weights of each variant, printed by the program itself."""
    assert ran.status == 0, ran.stderr.decode()
    found = {line.split()[0]: line.partition(" ")[2] for line in ran.stdout.decode().splitlines()}
    assert all(re.fullmatch(r"\d+ [0-9a-f]{64}", digest) for digest in found.values())
    return found


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_weights_are_the_same_to_the_last_bit(program: str, tmp_path: Path) -> None:
    recorded, bare = (run_program(PROGRAMS[program], tmp_path / str(each), each) for each in (True, False))
    without = digests(bare)
    assert len(without) == VARIANTS[program]
    assert len(set(without.values())) > 1, "the digests tell one training from another"
    assert digests(recorded) == without
    assert recorded.folder is not None
    answer = read_answer(recorded.folder, recorded.cwd)
    assert answer.rules == []
    assert answer.why["run"]["steps"] == STEPS_OF_ONE * len(without), "each step was seen"
