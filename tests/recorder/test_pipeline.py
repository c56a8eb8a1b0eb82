"""The stages of a tf.data pipeline: sizes, functions and what these do. One real program."""

from __future__ import annotations

from typing import Any

import pytest

from tests.recorder.real import line_of, record

pytestmark = pytest.mark.slow
CODE = """
import numpy as np
import tensorflow as tf
from laststep.recorder.pipeline import describe_stages

Data = tf.data.Dataset
def describe(name, dataset):
    say(name, stages=describe_stages(dataset))

def slow(x):
    return np.float32(x)
def wrapped(x):
    return tf.numpy_function(slow, [x], tf.float32)
def by_py(x):
    return tf.py_function(slow, [x], tf.float32)
describe("python", Data.range(9).map(wrapped))  # <- wrapped
describe("py_function", Data.range(9).map(by_py, num_parallel_calls=4))

def rows():
    yield np.zeros(4, "float32")
describe("generator", Data.from_generator(rows, output_signature=tf.TensorSpec((4,), "float32")).batch(2))  # <- rows

def flip(x):
    return x + tf.random.uniform(())
describe("random", Data.range(9).map(lambda x: tf.cast(x, tf.float32)).map(flip))
def same(x):
    return x + tf.random.stateless_uniform((), (1, 2))
describe("stateless", Data.range(9).map(lambda x: tf.cast(x, tf.float32)).map(same))

def load(path):
    return tf.io.decode_png(tf.io.read_file(path), channels=3)
describe("images", Data.from_tensor_slices(["a.png"])
     .map(load, num_parallel_calls=tf.data.AUTOTUNE)  # <- load
     .cache())
describe("sizes", Data.from_tensor_slices(np.zeros((10, 3), "float32")).shuffle(7).batch(2, drop_remainder=True)
     .prefetch(5))
describe("lambda", Data.range(9).map(lambda x: x + 1))
class Loader:
    def each(self, x):
        return x * 2
describe("method", Data.range(9).map(Loader().each))
describe("dictionary", Data.from_tensor_slices({"a": np.zeros((4, 2), "int64"), "b": np.zeros(4, "float64")}))
describe("strings", Data.from_tensor_slices(["a", "b"]).batch(2))
many = Data.range(9)
for _ in range(80):
    many = many.map(lambda x: x)
describe("many", many)
describe("zip", Data.zip((Data.range(3), Data.range(3).map(wrapped))))
describe("interleave", Data.range(3).interleave(lambda n: Data.range(3), cycle_length=2, num_parallel_calls=2))
describe("counts", Data.range(9).repeat().filter(lambda x: x > 99).skip(3).take(2))
describe("options", Data.range(3).with_options(tf.data.Options()).map(lambda x: x))
before = tf.random.get_global_generator().state.numpy().tolist()
describe("again", Data.range(9).map(wrapped))
say("untouched", same=before == tf.random.get_global_generator().state.numpy().tolist())
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return record(tmp_path_factory.mktemp("pipeline"), CODE)[0]


def stage(printed: dict[str, Any], name: str, kind: str = "Map") -> dict[str, Any]:
    return next(one for one in printed[name]["stages"] if kind in one["stage"])


@pytest.mark.parametrize("name,function", [("python", "wrapped"), ("py_function", "by_py")])
def test_python_in_a_map(printed: dict[str, Any], name: str, function: str) -> None:
    found = stage(printed, name)
    assert found["python"] is True
    assert found["function"] == function
    assert not found.keys() & {"generator", "random", "reads", "decodes"}


def test_where_it_is_and_where_it_is_given(printed: dict[str, Any]) -> None:
    found = stage(printed, "python")
    assert found["where"]["text"] == "def wrapped(x):"
    assert found["called_at"]["line"] == line_of(CODE, "wrapped")


def test_a_generator(printed: dict[str, Any]) -> None:
    (found,) = [one for one in printed["generator"]["stages"] if one.get("generator")]
    assert found["python"] is True
    assert printed["generator"]["stages"][0]["batch_size"] == 2


def test_a_generator_hidden_in_from_generator(printed: dict[str, Any]) -> None:
    (found,) = [one for one in printed["generator"]["stages"] if one.get("generator")]
    assert found["function"] == "rows"
    assert found["called_at"]["line"] == line_of(CODE, "rows")


def test_random_numbers_that_keep_a_map_from_running_in_parallel(printed: dict[str, Any]) -> None:
    assert stage(printed, "random")["random"] is True
    assert "random" not in stage(printed, "stateless")


def test_reading_and_decoding(printed: dict[str, Any]) -> None:
    found = stage(printed, "images")
    assert found["reads"] is True
    assert found["decodes"] is True
    assert found["num_parallel_calls"] == -1
    assert "python" not in found
    assert "Cache" in printed["images"]["stages"][0]["stage"]


def test_calls_over_several_lines_are_placed_at_the_method(printed: dict[str, Any]) -> None:
    assert stage(printed, "images")["called_at"]["line"] == line_of(CODE, "load")


def test_how_often_it_repeats_and_what_it_skips(printed: dict[str, Any]) -> None:
    counts = {one["stage"]: one.get("count") for one in printed["counts"]["stages"]}
    assert (counts["Repeat"], counts["Skip"], counts["Take"], counts["Filter"]) == (-1, 3, 2, None)
    assert stage(printed, "counts", "Filter")["where"]["line"] > 0


def test_parallel_calls(printed: dict[str, Any]) -> None:
    assert stage(printed, "py_function")["num_parallel_calls"] == 4
    assert "num_parallel_calls" not in stage(printed, "python")


def test_sizes_and_bytes(printed: dict[str, Any]) -> None:
    prefetch, batch, shuffle, source = printed["sizes"]["stages"]
    assert [one["stage"] for one in (prefetch, batch, shuffle, source)] == [
        *("Prefetch", "Batch", "Shuffle", "TensorSlice")
    ]
    assert prefetch["buffer_size"] == 5
    assert (batch["batch_size"], batch["drop_remainder"]) == (2, 1)
    assert shuffle["buffer_size"] == 7
    assert (source["bytes"], batch["bytes"]) == (12, 24)
    assert printed["dictionary"]["stages"][0]["bytes"] == 24
    assert printed["strings"]["stages"][0]["bytes"] in (None, 0)


def test_lambdas_and_methods_have_a_place(printed: dict[str, Any]) -> None:
    assert stage(printed, "lambda")["where"]["text"].startswith('describe("lambda"')
    assert stage(printed, "method")["function"] == "each"


def test_a_chain_without_end_is_cut(printed: dict[str, Any]) -> None:
    assert len(printed["many"]["stages"]) == 30


def test_several_sources_and_datasets_inside_are_no_error(printed: dict[str, Any]) -> None:
    assert "Zip" in printed["zip"]["stages"][0]["stage"]
    assert "Interleave" in printed["interleave"]["stages"][0]["stage"]
    assert printed["interleave"]["stages"][0]["cycle_length"] == 2
    assert printed["options"]["stages"][-1]["stage"] == "Range"


def test_describing_it_changes_nothing(printed: dict[str, Any]) -> None:
    assert printed["untouched"]["same"] is True
    assert printed["again"]["stages"] == printed["python"]["stages"]
