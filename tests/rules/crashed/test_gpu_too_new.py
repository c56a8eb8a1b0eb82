"""gpu-too-new on bare logs and on written-down runs: the gap between a card and the build, and its neighbours."""

from __future__ import annotations

import pytest

from laststep.analysis.finding import Confidence, Diagnosis
from laststep.record.run import Run
from laststep.rules.diagnose import diagnose
from tests.logs.printed import TENSORFLOW_STARTS, answer
from tests.written import written

WHEEL = ["sm_60", "sm_70", "sm_80", "sm_89", "compute_90"]  # of TensorFlow 2.21
WARNED = (
    "W0000 00:00:1764044088.195750   20660 gpu_device.cc:2431] TensorFlow was not built with CUDA kernel binaries "
    "compatible with compute capability {}. CUDA kernels will be jit-compiled from PTX, which could take 30 minutes or "
    "longer.\n"
)
LLVM = "LLVM ERROR: PTX version 8.5 does not support target 'sm_120a'. Minimum required PTX version is 8.7.\n"
INVALID_PTX = (
    "2025-11-24 23:14:48.524495: W tensorflow/compiler/mlir/tools/kernel_gen/tf_gpu_runtime_wrappers.cc:40] "
    "'cuModuleLoadData(&module, data)' failed with 'CUDA_ERROR_INVALID_PTX'\n"
)
RAISED = (
    "Traceback (most recent call last):\n"
    '  File "/home/anna/train.py", line 8, in <module>\n'
    "    y = a * b\n"
    "tensorflow.python.framework.errors_impl.InternalError: {{function_node __wrapped__Mul_device_/job:localhost}} "
    "'cuLaunchKernel(function, gridX)' failed with 'CUDA_ERROR_INVALID_HANDLE' [Op:Mul] name: \n"
)
NO_IMAGE = "no kernel image is available for execution on the device"


def recorded(card: str | None, message: str, built: list[str] | None = WHEEL, cards: int = 1) -> Diagnosis:
    """A run whose card the driver reported (a stand-in for NVML) and which ended with this message."""
    gpus = [{"gpu": 0, "used": 1, "total": 2, "capability": card}, {"gpu": 1, "capability": "8.6"}][:cards]
    raised = {"type": "tensorflow.python.framework.errors_impl.InternalError", "message": message, "left": "program"}
    events = [
        written(0.0, "run", {"command": ["python", "train.py"]}),
        written(0.0, "limits", {"gpus": gpus if card else []}),
        written(1.0, "recorder", {"pid": 1}),
        written(2.0, "build", {"capabilities": built}),
        written(3.0, "exception", raised | {"bases": ["Exception"]}),
        written(4.0, "end", {"code": 1, "signal": None}),
    ]
    return diagnose(Run(id="r", events=tuple(events)))


def first(diagnosis: Diagnosis) -> str:
    return diagnosis.findings[0].rule


def test_a_bare_log_with_the_compilers_last_words_is_enough() -> None:
    diagnosis = answer(TENSORFLOW_STARTS + WARNED.format("12.0a") + LLVM + "Aborted (core dumped)\n")
    assert first(diagnosis) == "gpu-too-new"
    assert diagnosis.findings[0].confidence is Confidence.CERTAIN
    assert "12.0" in diagnosis.findings[0].cause


def test_without_the_shells_word_for_the_signal_it_is_the_same() -> None:
    diagnosis = answer(TENSORFLOW_STARTS + LLVM)
    assert first(diagnosis) == "gpu-too-new"
    assert diagnosis.outcome == "crashed"


def test_a_bare_log_of_a_driver_that_refuses_the_code() -> None:
    diagnosis = answer(TENSORFLOW_STARTS + WARNED.format("12.0") + INVALID_PTX + RAISED)
    finding = diagnosis.findings[0]
    assert (finding.rule, finding.confidence) == ("gpu-too-new", Confidence.CERTAIN)
    assert any("CUDA_ERROR_INVALID_PTX" in item.says for item in finding.evidence)
    assert "gpu-libraries-unusable" not in [each.rule for each in diagnosis.findings]


def test_the_same_wheel_again_is_no_cure() -> None:
    remedies = recorded("12.0", NO_IMAGE).findings[0].remedies
    text = " ".join(f"{remedy.does} {remedy.change}" for remedy in remedies)
    assert "and-cuda" not in text
    for cure in ("cuda_compute_capabilities", "nvcr.io/nvidia/tensorflow", "KERAS_BACKEND="):
        assert cure in text


@pytest.mark.parametrize(
    "message", [NO_IMAGE, "CUDA_ERROR_NO_BINARY_FOR_GPU: no kernel image", "CUDA_ERROR_INVALID_PTX"]
)
def test_the_drivers_capability_against_the_builds(message: str) -> None:
    finding = recorded("12.0", message).findings[0]
    assert (finding.rule, finding.confidence) == ("gpu-too-new", Confidence.LIKELY)
    assert "12.0" in finding.cause
    assert "9.0" in finding.cause


OTHERS = {
    "the build has code for it": ("8.9", WHEEL),
    "code of the same major runs on it": ("8.6", WHEEL),
    "an old card": ("5.2", WHEEL),
    "between two that it has code for": ("10.0", [*WHEEL, "sm_120"]),
    "the build is not known": ("12.0", None),
    "a card that no driver reports": (None, WHEEL),
}


@pytest.mark.parametrize(("card", "built"), OTHERS.values(), ids=OTHERS)
def test_it_is_not_the_age_of_the_build(card: str | None, built: list[str] | None) -> None:
    diagnosis = recorded(card, "CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed", built)
    assert first(diagnosis) == "gpu-libraries-unusable"
    assert "and-cuda" not in str([remedy.change for remedy in diagnosis.findings[0].remedies])


def test_an_old_card_is_said_to_be_old() -> None:
    finding = recorded("5.2", NO_IMAGE).findings[0]
    assert "5.2" in finding.cause
    assert "the oldest that the build supports is 6.0" in finding.cause
    assert "older release" in finding.remedies[0].does


def test_which_of_two_cards_it_was_is_not_guessed() -> None:
    assert first(recorded("12.0", NO_IMAGE, cards=2)) == "gpu-libraries-unusable"


def test_pytorchs_own_error_is_not_about_tensorflows_build() -> None:
    message = f"CUDA error: {NO_IMAGE}\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions."
    assert "gpu-too-new" not in [finding.rule for finding in recorded("12.0", message).findings]


def test_a_training_that_ends_for_another_reason_is_not_blamed_on_it() -> None:
    error = RAISED.replace("CUDA_ERROR_INVALID_HANDLE", "CUDA_ERROR_ILLEGAL_ADDRESS")
    assert first(answer(TENSORFLOW_STARTS + WARNED.format("12.0") + error)) == "cuda-kernel-failed"
