"""host-allocation-failed: what the machine had left is the last that was measured."""

from __future__ import annotations

import pytest

from laststep.record.sample import HostMemory, Sample
from laststep.text import format_size
from tests.rules.crashed.ended import ended, raised, says

GB = 10**9


def test_what_was_available_comes_from_the_last_sample_that_has_it() -> None:
    error = raised(
        "numpy._core._exceptions._ArrayMemoryError",
        "Unable to allocate 80.0 GiB for an array with shape (9, 9) and data type float64",
    )
    host = HostMemory(total=64 * GB, available=3 * GB)
    diagnosis = ended(
        error,
        samples=[
            Sample(time=1.0, host=HostMemory(total=64 * GB, available=50 * GB)),
            Sample(time=2.0, host=host),
            Sample(time=3.0),
        ],
    )
    assert diagnosis.findings[0].rule == "host-allocation-failed"
    assert "the machine had 3.0 GB of 64.0 GB available in the last sample" in says(diagnosis)


@pytest.mark.parametrize(
    ("asked", "size"), [("95.4 MiB", 95.4 * 2**20), ("1.5 GiB", 1.5 * 2**30), ("1.5 PiB", 1.5 * 2**50)]
)
def test_an_amount_of_any_size_is_read(asked: str, size: float) -> None:
    message = f"Unable to allocate {asked} for an array with shape (10, 20) and data type float64"
    first = ended(raised("numpy._core._exceptions._ArrayMemoryError", message)).findings[0]
    assert first.cause == f"An allocation of {format_size(size)} in the machine's memory failed."
