"""Our operations in a compiled step change neither its numbers nor its errors. Real programs, with and without us."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from laststep.record.events.numbers import Numbers
from tests.recorder.real import QUIET, SRC, record

pytestmark = pytest.mark.slow
# One thread each: sums are then reproducible without op determinism, under which waits are not measured.
NOISY = """
import hashlib
import numpy as np
import tensorflow as tf
{keras}
{first}
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
x = np.random.default_rng(3).random((80, 8), dtype="float32")
y = x.sum(axis=1, keepdims=True)

class Noisy(keras.Model):
    def __init__(self):
        super().__init__()
        self.one, self.drop, self.two = keras.layers.Dense(16), keras.layers.Dropout(0.3), keras.layers.Dense(1)
    def call(self, x, training=False):
        return self.two(self.drop(self.one(x), training=training))
    def train_step(self, data):
        x, y = data
        x = x + tf.random.normal(tf.shape(x), stddev=0.1)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(x, training=True) - y - tf.random.uniform(())) ** 2)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {{"loss": loss}}

def digest(seed, **settings):
    keras.backend.clear_session()
    keras.utils.set_random_seed(seed)
    model = Noisy()
    model.compile(optimizer="adam", **settings)
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(80, seed=5).batch(16)
    model.fit(data, epochs=3, verbose=0)
    return hashlib.sha256(b"".join(np.ascontiguousarray(w).tobytes() for w in model.get_weights())).hexdigest()

say("digests", fit=digest(1), executions=digest(1, steps_per_execution=5), other=digest(2))
module = sys.modules.get("laststep.recorder.probes.data_wait")
say("marked", marked=module is not None and bool(module._traced_waits))
"""
KERAS = {"keras": "import keras", "tf_keras": "import tf_keras as keras"}
DETERMINISM = "tf.config.experimental.enable_op_determinism()"


@pytest.mark.parametrize("name", KERAS)
def test_random_numbers_in_a_step_and_dropout_are_the_same_to_the_bit(tmp_path: Path, name: str) -> None:
    code = NOISY.format(keras=KERAS[name], first="")
    with_it, _ = record(tmp_path, code)
    without, _ = record(tmp_path, code, recorded=False)
    assert with_it["marked"]["marked"] is True, "otherwise the same numbers would prove nothing"
    assert without["marked"]["marked"] is False
    assert with_it["digests"] == without["digests"]
    assert without["digests"]["fit"] != without["digests"]["other"]


@pytest.mark.parametrize("name", KERAS)
def test_under_op_determinism_training_goes_on(tmp_path: Path, name: str) -> None:
    said, _ = record(tmp_path, NOISY.format(keras=KERAS[name], first=DETERMINISM))
    assert "digests" in said


FAILS = """
import numpy as np
import keras
import tensorflow as tf

class Broken(keras.Model):
    def train_step(self, data):
        return {"loss": tf.reduce_sum(tf.gather(data[0], [99999]))}

model = Broken()
model.compile("sgd")
model.fit(tf.data.Dataset.from_tensor_slices((np.zeros((32, 2)), np.zeros((32, 1)))).batch(8), verbose=0)
"""


def test_an_error_in_the_graph_is_the_same_text(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FAILS)
    texts = []
    for inside in ([sys.executable, "-m", "laststep", "run", "--quiet"], []):
        ended = subprocess.run(
            [*inside, sys.executable, "train.py"], capture_output=True, text=True, cwd=tmp_path, timeout=120,
            env={**os.environ, **QUIET, "PYTHONPATH": SRC},
        )  # fmt: skip
        assert ended.returncode == 1
        assert "Detected at node" in ended.stderr
        texts.append(re.sub(r"__inference_\w+", "", ended.stderr.partition("Traceback")[2]))
    assert texts[0] == texts[1]


# Weights of 1e25: the sum of their squares is too large for a float32, and so is that of their gradients.
OVERFLOWS = """
import warnings
import numpy as np
np.seterr(all="raise")
warnings.simplefilter("error")
import tensorflow as tf
import keras
x = np.full((64, 4), 1e-3, "float32")
weights = tf.Variable(np.full((4, 1), 1e25, "float32"))

def gradient():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.linalg.matmul(x, weights))
    weights.assign_sub(1e-6 * tape.gradient(loss, weights))
    return loss

for step in range(40):
    gradient()
    time.sleep(0.01)
model = keras.Sequential([keras.layers.Dense(1, kernel_initializer=keras.initializers.Constant(1e25))])
model.compile(optimizer="sgd", loss="mae")
model.fit(x, np.zeros((64, 1), "float32"), epochs=40, verbose=0)
"""


def test_what_overflows_in_our_arithmetic_is_no_warning_and_no_error(tmp_path: Path) -> None:
    _, run = record(tmp_path, OVERFLOWS)  # no probe failed
    assert len({measured.site for measured in run.all(Numbers)}) == 2, "the loop and the fit"
    assert "Warning" not in run.console
