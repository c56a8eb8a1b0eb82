"""Messages that look like errors and are harmless, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from laststep.logs.line_reader import LogLine


@dataclass
class Harmless:
    """A harmless message, and how often it is in the log."""

    words: str
    meaning: str
    times: int = 0


# (pattern, how it is shown, what it means)
KNOWN = (
    (
        r"oneDNN custom operations are on",
        "oneDNN custom operations are on",
        "TensorFlow uses its fast CPU kernels; results may differ in the last digits",
    ),
    (
        r"This TensorFlow binary is optimized|Your CPU supports instructions that this",
        "This TensorFlow binary is optimized …",
        "a note about CPU instructions; results are not affected",
    ),
    (
        r"successful NUMA node read .* negative value|NUMA node.*(?:must be at least one|Not found)|could not "
        r"open file to read NUMA",
        "NUMA node read … negative value",
        "the machine reports no NUMA nodes; the GPU works anyway",
    ),
    (
        r"Unable to register (?:cuDNN|cuFFT|cuBLAS)|computation placer already registered",
        "Unable to register cuDNN/cuFFT/cuBLAS factory",
        "two parts of TensorFlow registered the same library; the second one is ignored",
    ),
    (
        r"Could not load dynamic library|Could not find cuda drivers|failed call to cuInit|cudart_stub|"
        r"CUDA_ERROR_NO_DEVICE|does not match DSO version|retrieving CUDA diagnostic",
        "no usable CUDA driver or library",
        "TensorFlow continues on the CPU; a problem only if a GPU should be used",
    ),
    (
        r"not built with CUDA kernel binaries compatible with compute capability",
        "TensorFlow was not built with CUDA kernel binaries compatible …",
        "the driver compiles the kernels for this newer GPU; where that works, only the first start is slow",
    ),
    (
        r"Could not find TensorRT|TF-TRT Warning|libnvinfer",
        "TF-TRT Warning: Could not find TensorRT",
        "TensorRT is optional and training does not use it",
    ),
    (
        r"Allocation of \d+ exceeds \d+% of (?:free )?system memory",
        "Allocation … exceeds 10% of free system memory",
        "a note about a large tensor, not a failure",
    ),
    (
        r"ran out of memory trying to allocate.*(?:not a failure|performance gains)",
        "ran out of memory … not a failure",
        "a faster algorithm needed more memory; TensorFlow used another one",
    ),
    (
        r"End of sequence|OUT_OF_RANGE",
        "OUT_OF_RANGE: End of sequence",
        "the dataset ended, as it does after each epoch",
    ),
    (
        r"Error occurred when finalizing GeneratorDataset iterator",
        "Error occurred when finalizing GeneratorDataset",
        "printed when a generator shuts down, whatever ended it",
    ),
    (
        r"Gradients do not exist for variables",
        "Gradients do not exist for variables",
        "some weights do not affect this loss: expected for an unused head or the other half of a GAN",
    ),
    (
        r"Corrupt JPEG data: .*extraneous bytes|libpng warning|Warning: unknown JFIF",
        "Corrupt JPEG data: extraneous bytes",
        "the decoder skipped some bytes and delivered the image",
    ),
    (
        r"Local rendezvous is aborting with status: (?:OUT_OF_RANGE|CANCELLED)",
        "Local rendezvous is aborting",
        "TensorFlow cancels waiting ops when a dataset ends or an op fails; it is never the cause",
    ),
    (
        r"This message will be only logged once|5 out of the last \d+ calls",
        "5 out of the last 5 calls … triggered tf.function retracing",
        "slower, not wrong",
    ),
    (
        r"Google authentication bearer token|metadata\.google\.internal|Retrieving token from GCE failed",
        "All attempts to get a Google authentication bearer token failed",
        "the machine is not in Google Cloud; only buckets there need the token",
    ),
    (r"ptxas warning|ptxas info|Registers are spilled", "ptxas warning", "a note from the GPU compiler"),
    (
        r"CUPTI|cupti",
        "CUPTI could not be used",
        "only TensorFlow's profiler needs it",
    ),
    (
        r"DeprecationWarning|FutureWarning|is deprecated|will be removed in",
        "… is deprecated",
        "works now; a later version will remove it",
    ),
)
_KNOWN = [(re.compile(pattern), words, meaning) for pattern, words, meaning in KNOWN]
_ANY = re.compile("|".join(pattern for pattern, _, _ in KNOWN))
# TensorFlow prints it only if the driver shows a GPU: it ends nothing, but training is slow (gpu-unused).
SKIPPED_GPU = re.compile(r"Cannot dlopen some GPU libraries|Skipping registering GPU")


def is_harmless(text: str) -> bool:
    """A message that never ends a training."""
    return bool(_ANY.search(text) or SKIPPED_GPU.search(text))


def harmless_in(lines: Iterable[LogLine]) -> list[Harmless]:
    """Those in the log, the most frequent first."""
    found: dict[str, Harmless] = {}
    for line in lines:
        if not _ANY.search(line.text):
            continue
        words, meaning = next((words, meaning) for pattern, words, meaning in _KNOWN if pattern.search(line.text))
        found.setdefault(words, Harmless(words, meaning)).times += 1
    return sorted(found.values(), key=lambda item: -item.times)
