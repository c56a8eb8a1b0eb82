"""TensorFlow's build has no code for this GPU: the card is newer."""

from __future__ import annotations

from laststep.analysis.capability import BUILD, REFUSED, Gap, dotted, gap_of
from laststep.analysis.finding import Confidence, Remedy, measured, no
from laststep.analysis.messages import ECHOES, answer, find_messages
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

BLACKWELL = (10, 12)  # the majors that NVIDIA's images know since 25.01


@rule(outranks=(*ECHOES, "gpu-libraries-unusable", "cuda-kernel-failed"))
def gpu_too_new(run: Run) -> Answer:
    """The GPU is newer than TensorFlow's build: it holds no code for a card of this compute capability.

    What happened
        A build holds machine code for some generations of cards, and PTX, which the driver compiles for later
        ones. For this card there is no machine code, and the PTX could not be compiled for it either. The wheels
        up to TensorFlow 2.21 end at compute capability 9.0; an RTX 50xx has 12.0.

    How laststep knows
        The driver or the compiler refused the code (CUDA_ERROR_INVALID_PTX, CUDA_ERROR_NO_BINARY_FOR_GPU, "PTX
        version … does not support target"), and the card's compute capability, which TensorFlow prints and NVML
        reports, is above all that tf.sysconfig.get_build_info() lists.

    What to do
        Take a build that lists the card: a newer release or tf-nightly if it does, or NVIDIA's own image
        (nvcr.io/nvidia/tensorflow, from 25.01 on for RTX 50xx). Or train the same Keras 3 model on JAX or PyTorch,
        whose releases have the code. pip install "tensorflow[and-cuda]" brings the same build again and does not help.

    Not to be confused with
        gpu-libraries-unusable (the build knows the card, or the card is older than all that it knows). The warning
        that kernels "will be jit-compiled from PTX" alone: where that works, only the start is slow.
    """
    messages = list(find_messages(run, *REFUSED))
    if not messages:
        return no("no GPU refused the code that TensorFlow has for it")
    gap = gap_of(run)
    if gap is None or not (gap.is_too_new or gap.built):
        return no("the card's compute capability, or what the build has code for, is not known")
    if not gap.is_too_new:
        return measured(f"TensorFlow's build is not older than the card (compute capability {dotted(gap.card)})")
    first = messages[0]
    earlier = next((each.evidence for each in messages if each.event is None and each is not first), None)
    return answer(
        run,
        first,
        "",
        cause=f"This TensorFlow has no code for the GPU: {gap.between}.",
        remedies=_remedies(gap),
        more=(*((earlier,) if earlier else ()), *gap.evidence),
        confidence=Confidence.CERTAIN if gap.is_said else Confidence.LIKELY,
    )


def _remedies(gap: Gap) -> tuple[Remedy, ...]:
    name = f"{gap.card[0]}{gap.card[1]}"
    image = "docker run --gpus all nvcr.io/nvidia/tensorflow:25.01-tf2-py3 …" if gap.card[0] in BLACKWELL else None
    return (
        Remedy(
            f"Take a build that has code for it: a newer one, whose list holds sm_{name} or compute_{name}",
            BUILD,
            safe=True,
        ),
        Remedy("Or an image that the card's vendor built for it", image),
        Remedy("Or train the same Keras 3 model on another backend", "KERAS_BACKEND=jax python train.py"),
    )
