"""gpu-unused on made-up samples and console lines."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tests.logs.printed import MESSAGES, answer
from tests.rules.stalled.runs import found, training
from tests.supervisor.stuck import event


def test_a_gpu_that_stays_idle() -> None:
    def cards(busy: int, used: int = 10**8) -> list[dict[str, Any]]:
        return [{"t": 100.0 + i, "gpus": [{"busy": busy, "used": used, "total": 10**11}]} for i in range(40)]

    limits = event(99.1, "limits", gpus=[{"name": "H200", "used": 10**8, "total": 10**11}])
    setup = event(99.3, "setup", gpus=0)
    assert "gpu-unused" in found(training(cards(0), limits, setup))
    assert "gpu-unused" not in found(training(cards(60), limits, setup))
    assert "gpu-unused" not in found(training(cards(0, 10**10), limits, setup))
    assert "gpu-unused" not in found(training(cards(0), limits, event(99.3, "setup", gpus=1)))
    assert "gpu-unused" not in found(training(cards(0)))


DLOPEN = (
    "2024-03-04 05:06:07.123456: W tensorflow/core/common_runtime/gpu/gpu_device.cc:2256] Cannot dlopen some GPU "
    "libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use "
    "GPU.\nSkipping registering GPU devices...\n"
)


NO_CUDNN = (
    "2024-03-04 05:06:07.123400: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load "
    "dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file: No such file\n"
)


@pytest.mark.parametrize(
    ("printed", "cause", "cure"),
    [
        (NO_CUDNN + DLOPEN, "could not load the CUDA libraries that it needs (libcudnn.so.8)", "and-cuda"),
        ("E x.cc:1] kernel version 550.54.14 does not match DSO version 570.86.15\n", "different versions", "Reboot"),
        ("I x.cc:1] Could not find cuda drivers on your machine\n", "cannot reach the driver", "--gpus all"),
        ("", "idle: training runs on the CPU", "pip install"),
    ],
)
def test_why_a_gpu_stays_idle_is_named(printed: str, cause: str, cure: str) -> None:
    samples = [{"t": 100.0 + i, "gpus": [{"busy": 0, "used": 1, "total": 9}]} for i in range(40)]
    limits = event(99.1, "limits", gpus=[{"used": 1, "total": 9}])
    versions = event(99.2, "versions", tensorflow="2.21.0")
    run = dataclasses.replace(training(samples, limits, versions), console=printed)
    finding = found(run)["gpu-unused"]
    assert cause in finding.cause
    assert cure in f"{finding.remedies[0].does} {finding.remedies[0].change}"
    assert "gpu-unused" not in found(dataclasses.replace(training(samples), console=printed)), "no GPU is here"


IDLE = [{"t": 100.0 + i, "gpus": [{"busy": 0, "used": 1, "total": 9}]} for i in range(40)]
CU_INIT = (
    "2024-03-04 05:06:07.123456: E external/local_xla/xla/stream_executor/cuda/cuda_driver.cc:282] failed call to "
    "cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"
)
LOGGED = [*DLOPEN.splitlines(), CU_INIT, MESSAGES["no driver"]]
PRINTED = ["GPU temperature not available yet", "The GPU is not used for evaluation", "note: GPU 0 is reserved"]


def evidence_of(printed: str) -> list[str]:
    limits = event(99.1, "limits", gpus=[{"used": 1, "total": 9}])
    run = dataclasses.replace(training(IDLE, limits), console=f"Epoch 1/3\n{printed}\n")
    return [item.says for item in found(run)["gpu-unused"].evidence if item.says.startswith("it printed")]


@pytest.mark.parametrize("line", PRINTED)
def test_what_the_program_prints_about_a_gpu_is_no_evidence(line: str) -> None:
    assert evidence_of(line) == []
    assert [item.because for item in answer(line).ruled_out if item.rule == "gpu-unused"] == [], "nor in a log"


@pytest.mark.parametrize("line", LOGGED)
def test_what_tensorflow_logs_about_an_unused_gpu_is_evidence(line: str) -> None:
    (says,) = evidence_of(f"GPU temperature not available yet\n{line}")
    assert line[-100:] in says
