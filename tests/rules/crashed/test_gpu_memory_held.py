"""gpu-memory-held: who held the card before the start, by the driver."""

from __future__ import annotations

import pytest

from laststep.record.events.supervisor import Limits
from laststep.record.sample import GpuHolder, GpuState
from tests.rules.crashed.ended import ended, raised

GB = 10**9
ERROR = raised("RuntimeError", "CUDA out of memory. Tried to allocate 2.00 GiB")
TAKEN = GpuState(
    gpu=0, used=70 * GB, total=80 * GB, held_by=(GpuHolder(pid=7, used=GB), GpuHolder(pid=41, used=60 * GB))
)


def test_the_process_that_held_it_is_named_and_not_this_one() -> None:
    first = ended(Limits(gpus=(TAKEN,)), ERROR).findings[0]
    assert first.rule == "gpu-memory-held"
    assert "70.0 GB of 80.0 GB were in use before the start (process 41 with 60.0 GB)" in first.cause


OTHER_CARDS = {"free": GpuState(gpu=1, used=GB, total=80 * GB), "not read": GpuState(gpu=1, error="Unknown Error")}


@pytest.mark.parametrize("other", OTHER_CARDS.values(), ids=OTHER_CARDS)
def test_which_of_two_cards_the_program_used_is_not_guessed(other: GpuState) -> None:
    diagnosis = ended(Limits(gpus=(TAKEN, other)), ERROR)
    assert "gpu-memory-held" not in [finding.rule for finding in diagnosis.findings]
