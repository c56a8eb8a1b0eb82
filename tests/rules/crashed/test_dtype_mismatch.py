"""dtype-mismatch: the dtype to cast to."""

from __future__ import annotations

import pytest

from tests.rules.crashed.ended import ended, raised

MATMUL = "cannot compute MatMul as input #1(zero-based) was expected to be a {} tensor but is a {} tensor"
ADD = "Input 'y' of 'AddV2' Op has type {1} that does not match type {0} of argument 'x'."
LIST = "Value for attr 'T' of {1} is not in the list of allowed values: {0}"
CASTS = {
    "as the other": (ADD.format("float16", "float32"), "float16"),
    "a kernel's double": (MATMUL.format("double", "float"), "float64"),
    "a kernel's half": (MATMUL.format("half", "float"), "float16"),
    "no floats to integers": (ADD.format("uint8", "float32"), "float32"),
    "no kernel's floats to integers": (MATMUL.format("int32", "double"), "float64"),
    "integers to integers": (ADD.format("int64", "int32"), "int64"),
    "not to bfloat16 because it is first": (LIST.format("bfloat16, half, float, double", "int32"), "float32"),
}


@pytest.mark.parametrize(("message", "dtype"), CASTS.values(), ids=CASTS)
def test_the_dtype_to_cast_to(message: str, dtype: str) -> None:
    first = ended(raised("tensorflow.errors.InvalidArgumentError", message)).findings[0]
    assert first.rule == "dtype-mismatch"
    assert first.remedies[0].change == f"x = tf.cast(x, tf.{dtype})"
