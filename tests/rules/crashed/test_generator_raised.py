"""generator-raised: the user's line in a traceback that TensorFlow carries in its message."""

from __future__ import annotations

from tests.rules.crashed.ended import ended, raised

CARRIED = (
    "ValueError: low >= high\n"
    "Traceback (most recent call last):\n"
    '  File "/usr/lib/python3.11/site-packages/tensorflow/python/ops/script_ops.py", line 270, in __call__\n'
    "    ret = func(*args)\n"
    '  File "/home/anna/train.py", line 8, in crop\n'
    "    return rng.integers(9, 3)\n"
    '  File "numpy/random/_generator.pyx", line 674, in numpy.random._generator.Generator.integers\n'
)


def test_a_compiled_extensions_own_source_is_not_the_users() -> None:
    first = ended(raised("tensorflow.errors.InvalidArgumentError", CARRIED)).findings[0]
    assert (first.rule, first.cause) == ("generator-raised", "The program's own data code raised ValueError in crop.")
    assert first.where is not None
    assert (first.where.file, first.where.line) == ("/home/anna/train.py", 8)


def test_a_program_that_is_an_installed_package_is_the_users_own() -> None:
    folder = "/usr/lib/python3.11/site-packages"
    error = raised(
        "KeyError",
        "'speed'",
        {"file": f"{folder}/keras/src/trainers/epoch_iterator.py", "line": 5},
        {"file": f"{folder}/mine/data.py", "line": 4, "function": "rows", "users": True},
        {"file": f"{folder}/pandas/core/frame.py", "line": 9},
    )
    first = ended(error).findings[0]
    assert (first.rule, first.cause) == ("generator-raised", "The program's own data code raised KeyError in rows.")
    assert first.where is not None
    assert first.where.file == f"{folder}/mine/data.py"


def test_a_function_without_a_name_is_not_named() -> None:
    carried = CARRIED.replace("in crop", "in <listcomp>")
    first = ended(raised("tensorflow.errors.InvalidArgumentError", carried)).findings[0]
    assert (first.rule, first.cause) == ("generator-raised", "The program's own data code raised ValueError.")
