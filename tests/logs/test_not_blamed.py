"""Lines that look like a cause and are none: another end speaks louder, or nothing ended at all."""

from __future__ import annotations

import pytest

from tests.logs.printed import answer

START = "2025-03-04 05:06:07.123456: I tensorflow/core/platform/x.cc:1] started\n"
NO_DEVICE = (
    "2025-03-04 05:06:07.123456: E tensorflow/stream_executor/cuda/cuda_driver.cc:328] failed call to cuInit: "
    "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n"
)
RAISED = 'Traceback (most recent call last):\n  File "/home/anna/train.py", line 3, in <module>\n    go()\n'

NOTHING = {
    "a part of the loss": "Epoch 100: Total loss: 0.5, Data loss: 0.11\nEpoch 200: Total loss: 0.4, Data loss: 0.1\n",
    "a kind of noise": "Corruption: gaussian_noise severity 3 accuracy 0.61\n",
    "the number of a signal that is measured": "Processing signal 11, lead II\nProcessing signal 9, lead I\n",
    "rows": "SQL query returned: 137 rows\n",
    "samples": "Preprocessing finished with: 139 samples dropped\n",
    "a request that is tried again": "request failed with status code 503, retrying\n",
    "the end of a cluster": "all epochs done, node worker-0 shutting down\n",
    "what is waited for": "Listening for a preemption notice on SIGTERM\n",
    "no card": NO_DEVICE,
    "a value to begin with": "Epoch 1 train loss: 0.5 best_loss: inf\nEpoch 2 train loss: 0.4 best_loss: 0.5\n",
    "a note of metadata": "Types mismatch in metadata: ignored\nepoch 1 acc 0.4\nepoch 2 acc 0.5\nepoch 3 acc 0.6\n",
    "no cloud": "2025-03-04 05:06:07.1: W tensorflow/core/platform/cloud/auth.cc:184] All attempts to get a "
    "Google authentication bearer token failed, returning an empty token. Could not resolve host: metadata\n",
    "a state": "job status: Aborted runs: 0\n",
}

ANOTHER = {
    "a key that git lacks": ("git@github.com: Permission denied (publickey).\nKilled\n", "killed-by-signal"),
    "a file that a shell lacks": (
        "cat: /proc/driver/nvidia/version: No such file or directory\nKilled\n",
        "killed-by-signal",
    ),
    "a column": ("column age contains NaN: False\nKilled\n", "killed-by-signal"),
    "ranks": ("Broadcasting initial variables to all ranks\nKilled\n", "killed-by-signal"),
    "no card, and then an error": (f"{NO_DEVICE}{RAISED}RuntimeError: config is incomplete\n", "unhandled-exception"),
    "no card, and then a label": (
        f"{NO_DEVICE}{RAISED}InvalidArgumentError: Received a label value of 9 which is outside the valid range "
        "of [0, 9).\n",
        "label-out-of-range",
    ),
    "sklearn's data": (f"{RAISED}ValueError: Input X contains NaN.\n", "unhandled-exception"),
    "an argument": (f"{RAISED}ValueError: could not convert string to float: '--lr'\n", "unhandled-exception"),
    "a class of one's own": (f"{RAISED}ValueError: Unknown layer: 'AttentionLayer'.\n", "unhandled-exception"),
    "a plot": (f"{RAISED}ValueError: attempt to get argmax of an empty sequence\n", "unhandled-exception"),
    "a lock": (f"{RAISED}TimeoutError: evaluation lock not acquired in 30 s\n", "unhandled-exception"),
    "an iterator of settings": (f"{RAISED}StopIteration\n", "unhandled-exception"),
}


@pytest.mark.parametrize("log", NOTHING.values(), ids=NOTHING)
def test_nothing_is_said(log: str) -> None:
    diagnosis = answer(START + log)
    assert [finding.rule for finding in diagnosis.findings] == []
    assert diagnosis.outcome == "unknown"


@pytest.mark.parametrize(("log", "rule"), ANOTHER.values(), ids=ANOTHER)
def test_another_cause_is_said(log: str, rule: str) -> None:
    assert answer(START + log).findings[0].rule == rule


def test_numbers_that_numpy_cannot_combine_are_no_batches() -> None:
    log = f"{RAISED}ValueError: operands could not be broadcast together with shapes (3,) (4,) \n"
    [first, *_] = answer(log).findings
    assert first.rule == "shape-mismatch"
    assert "batch" not in first.cause


def test_a_message_without_shapes_is_told_without_them() -> None:
    log = f"{RAISED}InvalidArgumentError: required broadcastable shapes [Op:Mul]\n"
    assert answer(log).findings[0].rule == "shape-mismatch"


@pytest.mark.parametrize(
    ("message", "file"),
    [
        ("FileNotFoundError: [Errno 2] No such file or directory: 'data/train.csv'", "data/train.csv"),
        ("PermissionError: [Errno 13] Permission denied: '/data/x.npy'", "/data/x.npy"),
    ],
)
def test_the_file_is_named(message: str, file: str) -> None:
    assert file in answer(f"{RAISED}{message}\n").findings[0].cause


def test_a_plain_line_alone_makes_nobody_sure() -> None:
    [finding] = answer(START + "Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice.\n").findings
    assert (finding.rule, finding.confidence.name) == ("gpu-libraries-unusable", "POSSIBLE")


def test_the_line_that_says_so_is_quoted() -> None:
    assert (
        "line 2: “Segmentation fault (core dumped)”"
        in answer(START + "Segmentation fault (core dumped)\n").findings[0].evidence[0].says
    )


def test_a_card_whose_pool_is_full_below_its_limit_is_not_fragmented() -> None:
    log = (
        "2025-03-04 05:06:07.1: I tensorflow/core/common_runtime/bfc_allocator.cc:1100] total_region_allocated_bytes_: "
        "2147483648 memory_limit_: 15843721216 available bytes: 13696237568 curr_region_allocation_bytes_: 4294967296\n"
        "2025-03-04 05:06:07.1: I tensorflow/core/common_runtime/bfc_allocator.cc:1101] Stats: \n"
        "Limit:                     15843721216\nInUse:                      2000000000\n"
        "2025-03-04 05:06:07.1: W tensorflow/core/framework/op_kernel.cc:1753] OP_REQUIRES failed at x.cc:1 : Resource "
        "exhausted: OOM when allocating tensor with shape[64,1024,1024] and type float on "
        "/job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc\n"
    )
    assert answer(log).findings[0].rule == "gpu-out-of-memory"


def test_a_weights_first_axis_is_no_batch() -> None:
    log = (
        f"{RAISED}ResourceExhaustedError: OOM when allocating tensor with shape[25088,4096] and type float on "
        "/job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc\n"
    )
    [first, *_] = answer(log).findings
    assert first.rule == "gpu-out-of-memory"
    assert "25088" not in first.remedies[0].does
