"""Runs that really died or crept along beside a GPU (an H200; Keras on JAX and on PyTorch), diagnosed here."""

from __future__ import annotations

from pathlib import Path

import pytest

from laststep.reports import terminal
from laststep.rules.diagnose import read_diagnosis

RECORDED = Path(__file__).parent.parent / "recorded"
EXPECTED = {
    "cuda_kernel_failed_torch": ("cuda-kernel-failed", "assert_torch.py", 10, "device-side assert"),
    "gpu_memory_fragmented_torch": ("gpu-memory-fragmented", "frag_torch.py", 7, "33.1 GB of 150.1 GB were in use"),
    "gpu_memory_held_torch": ("gpu-memory-held", "small_torch.py", 11, "119.72"),
    "gpu_out_of_memory_jax": ("gpu-out-of-memory", "oom_jax.py", 12, "128.02GiB"),
    "gpu_unused_jax": ("gpu-unused", "unused_jax.py", 8, "at most 0% busy in 30 s of training"),
    "gpu_out_of_memory_torch": ("gpu-out-of-memory", "oom_torch.py", 12, "at most 1102 fit"),
}


NEAR_MISSES = {"near_miss_gpu_unused_jax"}


def test_every_recorded_run_is_asked() -> None:
    assert {path.name for path in RECORDED.iterdir() if path.is_dir()} == set(EXPECTED) | NEAR_MISSES


@pytest.mark.parametrize("name", sorted(NEAR_MISSES))
def test_a_near_miss_gets_no_finding(name: str) -> None:
    assert read_diagnosis(RECORDED / name).findings == ()


@pytest.mark.parametrize("name", EXPECTED)
def test_the_cause_is_named(name: str) -> None:
    rule, file, line, words = EXPECTED[name]
    diagnosis = read_diagnosis(RECORDED / name)
    first = diagnosis.findings[0]
    assert first.rule == rule
    assert first.where is not None
    assert (Path(first.where.file).name, first.where.line) == (file, line)
    page = terminal.page(diagnosis)
    assert words in page.replace("\n    ", " ")
    assert max(len(text) for text in page.splitlines()) <= 80


def test_the_batch_that_would_have_fit_is_named() -> None:
    diagnosis = read_diagnosis(RECORDED / "gpu_out_of_memory_torch")
    assert "batch_size=1024" in str(diagnosis.findings[0].remedies[0].change)


def test_who_held_the_card_is_named() -> None:
    diagnosis = read_diagnosis(RECORDED / "gpu_memory_held_torch")
    assert "process 1893 with 128.5 GB" in diagnosis.findings[0].cause
