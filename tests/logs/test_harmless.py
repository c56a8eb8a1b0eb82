"""Messages that frighten people and mean nothing bad are named as such, and are never the cause."""

from __future__ import annotations

import pytest

from laststep.logs.harmless import KNOWN, harmless_in
from laststep.logs.read import story_of
from tests.logs.printed import LOGS, ONE_FIT, OPEN_EPOCH, TENSORFLOW_STARTS, TRACEBACK, answer, story

DATE = "2025-03-04 05:06:07.123456:"
MESSAGES = {
    "oneDNN": f"{DATE} I tensorflow/core/util/port.cc:153] oneDNN custom operations are on. You may see slightly "
    "different numerical results.",
    "the processor": TENSORFLOW_STARTS.strip(),
    "NUMA": f"{DATE} I tensorflow/stream_executor/cuda/cuda_gpu_executor.cc:936] successful NUMA node read from SysFS "
    "had negative value (-1), but there must be at least one NUMA node, so returning NUMA node zero",
    "registered twice": "E0000 00:00:1741064767.123456    4411 cuda_dnn.cc:8310] Unable to register cuDNN factory: "
    "Attempting to register factory for plugin cuDNN when one has already been registered",
    "no driver": f"{DATE} I tensorflow/tsl/cuda/cudart_stub.cc:28] Could not find cuda drivers on your machine, "
    "GPU will not be used.",
    "no library": f"{DATE} W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic "
    "library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file: No such file or "
    "directory",
    "no device": f"{DATE} E tensorflow/stream_executor/cuda/cuda_driver.cc:271] failed call to cuInit: "
    "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
    "a newer card": f"{DATE} W tensorflow/core/common_runtime/gpu/gpu_device.cc:2431] TensorFlow was not built with "
    "CUDA kernel binaries compatible with compute capability 12.0. CUDA kernels will be jit-compiled from PTX, which "
    "could take 30 minutes or longer.",
    "TensorRT": f"{DATE} W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Could not "
    "find TensorRT",
    "a large tensor": f"{DATE} W tensorflow/core/framework/cpu_allocator_impl.cc:80] Allocation of 614400000 exceeds "
    "10% of free system memory.",
    "another algorithm": f"{DATE} W tensorflow/core/common_runtime/bfc_allocator.cc:275] Allocator (GPU_0_bfc) ran out "
    "of memory trying to allocate 2.20GiB with freed_by_count=0. The caller indicates that this is not a failure, but "
    "may mean that there could be performance gains if more memory were available.",
    "the end of the data": f"{DATE} I tensorflow/core/framework/local_rendezvous.cc:405] Local rendezvous is aborting "
    "with status: OUT_OF_RANGE: End of sequence",
    "a generator's end": f"{DATE} W tensorflow/core/kernels/data/generator_dataset_op.cc:108] Error occurred when "
    "finalizing GeneratorDataset iterator: FAILED_PRECONDITION: Python interpreter state is not initialized.",
    "retracing": "WARNING:tensorflow:5 out of the last 5 calls to <function step at 0x7f0> triggered tf.function "
    "retracing. Tracing is expensive.",
    "a compiler": "ptxas warning : Registers are spilled to local memory in function 'fusion_3'",
    "a profiler": f"{DATE} E tensorflow/core/profiler/internal/gpu/cupti_tracer.cc:1430] function cupti_interface_->"
    "Subscribe failed with error CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
    "old ways": "/home/anna/train.py:3: DeprecationWarning: `np.bool` is deprecated, and will be removed in a later "
    "version",
    "a picture": "Corrupt JPEG data: 2 extraneous bytes before marker 0xd9",
}


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_it_is_named_and_not_blamed(message: str) -> None:
    diagnosis = answer(f"{message}\n{ONE_FIT}{message}\n")
    [known] = harmless_in(story_of(diagnosis.run).lines)
    assert known.times == 2
    assert diagnosis.findings == ()
    assert diagnosis.outcome == "finished"
    page = str(diagnosis)
    assert "\nHarmless messages\n" in page
    assert "(2 times)" in " ".join(page.split())


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_beside_a_real_error_the_error_is_the_answer(message: str) -> None:
    log = f"{message}\n{OPEN_EPOCH}{message}\n{TRACEBACK}"
    assert answer(log).findings[0].rule == "unhandled-exception"


AT_THE_START = ("oneDNN", "the processor", "registered twice")


@pytest.mark.parametrize("name", [name for name in MESSAGES if name not in AT_THE_START])
def test_after_the_error_it_changes_nothing(name: str) -> None:
    assert answer(f"{OPEN_EPOCH}{TRACEBACK}{MESSAGES[name]}\n").findings[0].rule == "unhandled-exception"


@pytest.mark.parametrize("name", AT_THE_START)
def test_what_another_rank_prints_at_its_start_does_not_hide_the_error_of_the_first(name: str) -> None:
    assert answer(f"{OPEN_EPOCH}{TRACEBACK}{MESSAGES[name]}\n").findings[0].rule == "unhandled-exception"


@pytest.mark.parametrize("message", [message for name, message in MESSAGES.items() if name != "no device"])
def test_in_a_log_that_does_not_show_its_end_it_is_no_cause(message: str) -> None:
    diagnosis = answer(f"{message}\n{OPEN_EPOCH}")
    assert diagnosis.findings == ()
    assert diagnosis.outcome == "unknown"


def test_a_training_on_the_cpu_that_is_in_its_first_epoch_did_not_crash_for_want_of_a_gpu() -> None:
    assert answer(f"{MESSAGES['no device']}\n{OPEN_EPOCH}").findings == ()


def test_the_most_frequent_come_first_and_each_is_counted() -> None:
    names = ["oneDNN", "NUMA", "TensorRT"]
    log = "".join(f"{MESSAGES[name]}\n" * (number + 1) for number, name in enumerate(names))
    found = harmless_in(story(log).lines)
    assert [item.times for item in found] == [3, 2, 1]
    assert "TensorRT" in found[0].words


def test_a_log_without_any() -> None:
    assert harmless_in(story(ONE_FIT + TRACEBACK).lines) == []
    assert "Harmless" not in str(answer(ONE_FIT))


def test_only_some_are_shown_unless_all_are_asked_for() -> None:
    from laststep.reports.terminal import page

    diagnosis = answer("".join(f"{message}\n" for message in MESSAGES.values()) + ONE_FIT)
    short, whole = page(diagnosis), page(diagnosis, verbose=True)
    known = harmless_in(story_of(diagnosis.run).lines)
    assert len(known) > 10
    assert sum(f"“{item.words}”" in " ".join(short.split()) for item in known) == 3
    assert all(f"“{item.words}”" in " ".join(whole.split()) for item in known)


def test_each_has_a_name_of_its_own_and_says_what_it_means() -> None:
    names = [words for _, words, _ in KNOWN]
    assert len(set(names)) == len(names)
    assert all(len(meaning) > 10 for _, _, meaning in KNOWN)


@pytest.mark.parametrize("name", ["traceback", "gpu memory", "segmentation fault", "time limit", "memory", "ran out"])
def test_what_ended_a_training_is_not_called_harmless(name: str) -> None:
    words = [item.words for item in harmless_in(story(LOGS[name].replace(TENSORFLOW_STARTS, "")).lines)]
    assert words == []


def test_a_gpu_that_was_left_alone_is_neither_harmless_nor_a_cause() -> None:
    skipped = (
        f"{DATE} W tensorflow/core/common_runtime/gpu/gpu_device.cc:2256] Cannot dlopen some GPU libraries. Please "
        "make sure the missing libraries mentioned above are installed properly.\nSkipping registering GPU devices...\n"
    )
    diagnosis = answer(f"{MESSAGES['no library']}\n{skipped}{ONE_FIT}")
    assert (diagnosis.findings, diagnosis.outcome) == ((), "finished")
    page = " ".join(str(diagnosis).split())
    assert "Worth knowing" in page
    assert "could not load its libraries (libcudart.so.11.0): it ran on the CPU" in page
    assert "Cannot dlopen" not in [item.words for item in harmless_in(story_of(diagnosis.run).lines)]
