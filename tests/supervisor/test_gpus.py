"""What the supervisor asks the driver (NVML) about each GPU."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from laststep.supervisor import gpu


class _Nvml(SimpleNamespace):
    """Stands in for NVML: two cards, one of which does not know the question."""

    NVMLError = RuntimeError

    def nvmlDeviceGetCudaComputeCapability(self, handle: int) -> tuple[int, int]:
        if handle:
            raise RuntimeError("Not Supported")
        return 12, 0


def test_the_driver_is_asked_for_the_compute_capability(monkeypatch: pytest.MonkeyPatch) -> None:
    cards = gpu.Gpus()
    monkeypatch.setattr(cards, "_nvml", _Nvml())
    monkeypatch.setattr(cards, "_handles", [0, 1])
    monkeypatch.setattr(cards, "_read_one", lambda handle: {"used": 1})
    assert cards.describe() == [{"gpu": 0, "used": 1, "capability": "12.0"}, {"gpu": 1, "used": 1}]
