"""The GPU is newer than TensorFlow's build."""

from __future__ import annotations

from laststep.analysis.capability import BUILD, REFUSED, CapabilityGap, capability_gap, dotted
from laststep.analysis.finding import Confidence, Remedy, measured, no
from laststep.analysis.messages import answer, find_messages
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule

BLACKWELL = (10, 12)  # major versions that NVIDIA's images support since 25.01


@rule(tier=Tier.ROOT)
def gpu_too_new(run: Run) -> Answer:
    """The GPU is newer than TensorFlow's build, which has no code for its compute capability.

    What happened
        A build contains machine code for some generations of GPUs, and PTX, which the driver compiles for later
        ones. For this GPU there is no machine code, and the PTX could not be compiled for it either. The wheels
        up to TensorFlow 2.21 end at compute capability 9.0; an RTX 50xx has 12.0.

    How laststep knows
        The driver or the compiler rejected the code (CUDA_ERROR_INVALID_PTX, CUDA_ERROR_NO_BINARY_FOR_GPU, "PTX
        version … does not support target"), and the GPU's compute capability, which TensorFlow prints and NVML
        reports, is above all that tf.sysconfig.get_build_info() lists.

    What to do
        Use a build that lists the GPU: a newer release or tf-nightly if it does, or NVIDIA's own image
        (nvcr.io/nvidia/tensorflow, from 25.01 on for RTX 50xx). Or train the same Keras 3 model on JAX or
        PyTorch, whose releases have the code. pip install "tensorflow[and-cuda]" installs the same build again
        and does not help.

    Not to be confused with
        gpu-libraries-unusable (the build supports the GPU, or the GPU is older than all that it supports). The
        warning that kernels "will be jit-compiled from PTX" alone: where that works, only the start is slow.
    """
    messages = list(find_messages(run, *REFUSED))
    if not messages:
        return no("no GPU rejected TensorFlow's code")
    gap = capability_gap(run)
    if gap is None or not (gap.is_too_new or gap.built):
        return no("the GPU's compute capability, or what the build has code for, is not known")
    if not gap.is_too_new:
        return measured(f"TensorFlow's build is not older than the GPU (compute capability {dotted(gap.gpu)})")
    first = messages[0]
    earlier = next((each.evidence for each in messages if each.event is None and each is not first), None)
    return answer(
        run,
        first,
        "",
        cause=f"This build of TensorFlow has no code for the GPU: {gap.description}.",
        remedies=_remedies(gap),
        more=(*((earlier,) if earlier else ()), *gap.evidence),
        confidence=Confidence.CERTAIN if gap.is_printed else Confidence.LIKELY,
    )


def _remedies(gap: CapabilityGap) -> tuple[Remedy, ...]:
    name = f"{gap.gpu[0]}{gap.gpu[1]}"
    image = "docker run --gpus all nvcr.io/nvidia/tensorflow:25.01-tf2-py3 …" if gap.gpu[0] in BLACKWELL else None
    return (
        Remedy(
            f"Use a newer build that has code for this GPU: its list contains sm_{name} or compute_{name}",
            BUILD,
            safe=True,
        ),
        Remedy("Or use NVIDIA's own image", image),
        Remedy("Or train the same Keras 3 model on another backend", "KERAS_BACKEND=jax python train.py"),
    )
