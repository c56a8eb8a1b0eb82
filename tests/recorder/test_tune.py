"""Pipelines are rebuilt with one edit, and only changes that can matter are tried."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SCRIPT = """
import json, sys
from laststep.recorder.experiments.tune import calls
calls.patch_datasets()
import numpy as np
import tensorflow as tf
from laststep.recorder.experiments.tune.cache import cache_of
from laststep.recorder.experiments.tune.changes import PipelineChange, changes_of
from laststep.recorder.experiments.tune.shuffle_buffer import with_smaller_shuffles

numbers = lambda: tf.data.Dataset.range(12)
double = lambda x: x * 2
noisy = lambda x: tf.cast(x, tf.float32) + tf.random.uniform([])
in_python = lambda x: tf.numpy_function(lambda v: v + 1, [x], tf.int64)
rolled = lambda x: tf.numpy_function(lambda v: v + np.random.randint(1 << 30), [x], tf.int64)
def count():
    yield from range(5)
once = iter(range(5))
no_prefetch = tf.data.Options()
no_prefetch.experimental_optimization.inject_prefetch = False
table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.range(9), tf.range(9)), -1)
files = [f"{sys.argv[1]}/{n}" for n in "ab"]
for name in files:
    open(name, "w").write("1\\n2\\n")
spec = tf.TensorSpec([], tf.int64)
PIPELINES = {
    "plain": numbers().map(double).batch(4),
    "random": numbers().map(noisy).batch(4),
    "python": numbers().map(in_python).shuffle(4).batch(4),
    "python, parallel": numbers().map(in_python, num_parallel_calls=2).batch(4),
    "python, serial by name": numbers().map(in_python, num_parallel_calls=1).batch(4),
    "rolled": numbers().map(rolled).batch(4),
    "table": numbers().map(lambda x: table.lookup(tf.cast(x, tf.int32))).batch(4),
    "shuffled, plain": numbers().shuffle(12).map(double).batch(4),
    "shuffled first": numbers().shuffle(4).map(in_python).batch(4),
    "cached already": numbers().map(in_python).cache().batch(4),
    "two branches": tf.data.Dataset.zip((numbers().map(in_python), numbers().map(double))).batch(4),
    "endless": numbers().repeat().map(double).batch(4),
    "without prefetch": numbers().batch(4).with_options(no_prefetch),
    "files": tf.data.Dataset.from_tensor_slices(files).flat_map(tf.data.TextLineDataset).batch(2),
    "reader": tf.data.TextLineDataset(files).batch(2),
    "generator": tf.data.Dataset.from_generator(count, output_signature=spec).batch(2),
    "one-shot": tf.data.Dataset.from_generator(lambda: once, output_signature=spec).batch(2),
    "strings": numbers().map(lambda x: tf.strings.to_number(tf.strings.as_string(x))).batch(4),
}
results = {}
flat = lambda ds: sorted(str(part) for batch in ds for part in tf.nest.flatten(tf.nest.map_structure(
    lambda t: t.numpy().tolist(), batch)) for part in (part if isinstance(part, list) else [part]))
for name, ds in PIPELINES.items():
    found = [*changes_of(ds), *[c for c in [cache_of(ds, 5, 3, None)] if c]]
    tried = [c for c in found if isinstance(c, PipelineChange)]
    equal = name in ("random", "rolled", "endless") or all(flat(c.data) == flat(ds) for c in tried)
    results[name] = {"tried": {c.says: c.code for c in tried}, "equal": equal,
                  "not": {c.says: c.because for c in found if c not in tried}}
python = PIPELINES["python"]
results["passes"] = [type(cache_of(python, 5, *asked)).__name__ for asked in ((1, None), (2, None), (1, 3), (1, 4))]
import time
slow = lambda x: tf.numpy_function(lambda v: (time.sleep(0.01), v)[1], [x], tf.int64)
small, notes = with_smaller_shuffles(tf.data.Dataset.range(5000).map(slow).shuffle(5000).batch(10))
quick, none = with_smaller_shuffles(tf.data.Dataset.range(5000).shuffle(5000).map(slow).batch(10))
results["scaled"] = [len(list(small)), len(notes), int(quick.cardinality()), none]
print(json.dumps(results))
"""
PARALLEL, CACHE, BATCHES = "run the map in parallel", "keep the result in memory", "map whole batches"
FILES, PREFETCH = "read several files at once", "fetch the next batch meanwhile"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    pytest.importorskip("tensorflow")
    folder = tmp_path_factory.mktemp("tune")
    script = folder / "script.py"
    script.write_text(SCRIPT)
    ran = subprocess.run([sys.executable, script, folder], capture_output=True, text=True, timeout=280, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize(
    "pipeline, tried",
    [
        ("plain", {BATCHES, CACHE}),
        ("random", {PARALLEL, BATCHES}),
        ("python", {PARALLEL, CACHE}),
        ("python, parallel", {CACHE}),
        ("python, serial by name", {PARALLEL, CACHE}),
        ("rolled", {PARALLEL}),
        ("table", {PARALLEL, CACHE}),
        ("shuffled, plain", {BATCHES}),
        ("shuffled first", {PARALLEL}),
        ("cached already", {PARALLEL}),
        ("two branches", {PARALLEL, CACHE}),
        ("endless", {BATCHES}),
        ("without prefetch", {PREFETCH}),
        ("files", {FILES, CACHE}),
        ("reader", {FILES}),
        ("generator", {CACHE}),
        ("one-shot", set()),
        ("strings", {CACHE}),
    ],
)
def test_what_is_tried(results, pipeline, tried):
    assert set(results[pipeline]["tried"]) == tried, results[pipeline]
    assert results[pipeline]["equal"], "a changed pipeline gives the same examples"


@pytest.mark.slow
def test_what_is_not_tried_has_its_reason(results):
    assert "by itself" in results["plain"]["not"][PARALLEL]
    assert "by itself" in results["plain"]["not"][PREFETCH]
    assert "Python in the map" in results["python, parallel"]["not"][BATCHES]
    assert "not the same twice" in results["rolled"]["not"][CACHE]
    assert "shuffled before" in results["shuffled first"]["not"][CACHE]
    assert "random" in results["random"]["not"][CACHE]
    assert "iterated twice" in results["one-shot"]["not"][CACHE]
    assert "can't vectorise" in results["strings"]["not"][BATCHES]


@pytest.mark.slow
def test_how_a_change_is_written(results):
    assert results["python"]["tried"][PARALLEL] == ".map(in_python, num_parallel_calls=tf.data.AUTOTUNE)"
    assert (
        results["python, serial by name"]["tried"][PARALLEL] == ".map(in_python, num_parallel_calls=tf.data.AUTOTUNE)"
    )
    assert results["python"]["tried"][CACHE] == ".map(in_python).cache()"
    assert results["plain"]["tried"][BATCHES] == ".batch(4).map(lambda x: tf.vectorized_map(double, x))"
    assert (
        results["files"]["tried"][FILES] == ".interleave(tf.data.TextLineDataset, num_parallel_calls=tf.data.AUTOTUNE)"
    )
    assert results["reader"]["tried"][FILES] == "TextLineDataset(files, num_parallel_reads=tf.data.AUTOTUNE)"


@pytest.mark.slow
def test_a_cache_is_for_data_that_is_gone_through_again(results):
    """12 examples, 4 per step: three steps are one pass."""
    assert results["passes"] == ["SkippedChange", "PipelineChange", "SkippedChange", "PipelineChange"]


@pytest.mark.slow
def test_only_a_shuffle_behind_slow_work_is_made_smaller(results):
    batches, notes, untouched, none = results["scaled"]
    assert 4 <= batches < 100
    assert notes == 1
    assert untouched == 500
    assert none == []


def test_one_stall_is_left_out_and_the_usual_waits_are_not():
    from laststep.recorder.experiments.tune.turns import typical_length

    assert typical_length([1.0, 1.0, 1.0, 1.0, 2.0, 2.0]) == pytest.approx(8 / 6)
    assert typical_length([1.0, 1.0, 1.0, 1.0, 60.0]) == pytest.approx(1.0)
    assert typical_length([1.0, 60.0]) == pytest.approx(30.5)
