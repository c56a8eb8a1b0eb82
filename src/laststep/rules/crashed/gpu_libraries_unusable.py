"""CUDA, cuDNN or cuBLAS could not be used."""

from __future__ import annotations

import re

from laststep.analysis.capability import NEWER_DRIVER, OLDER_BUILD, REFUSED, TARGET, Gap, gap_of
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.messages import ECHOES, Message, answer, compiled, find_message, find_messages
from laststep.analysis.signals import quoted, verdict
from laststep.logs.read import parsed_console
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

_LIBRARY = (
    r"(?:lib)?(?:cuda|cudart|cublas|cublasLt|cudnn|cufft|curand|cusolver|cusparse|nccl|nvrtc|nvJitLink|cupti|nvinfer)"
)
WINDOWS = (
    Remedy("Install the Visual C++ runtime, and on Windows TensorFlow in WSL 2", "wsl --install"),
    Remedy("See whether the processor has AVX, which TensorFlow's wheels need"),
)
# What the library lacks or which version it is: the framework said so.
SURE = compiled(
    r"libdevice not found|Can't find libdevice directory",
    r"(?i)couldn't (?:invoke|get) ptxas|ptxas (?:exited|returned) (?:with )?(?:a |an )?(?:non-zero|error)|No PTX "
    r"compilation provider|ptxas not found",
    r"(?i)failed to initialize GPU device|implicit initialization on GPU:\d+ failed(?![^\n]*out of memory)",
    r"DLL load failed|The specified module could not be found|undefined symbol: cud|could not find cudnn\w* in "
    r"cudnn DSO",
    rf"^(?!.*dlerror).*?(?P<library>{_LIBRARY}\w*(?:[-.]\w+)*\.(?:so|dll|dylib)[.\d]*)['\"]?:? (?:cannot open "
    rf"shared object|not "
    rf"found|no such file)",
    rf"Could not (?:find|load)(?: library)? '?(?P<library>{_LIBRARY}[\w.]*)'?(?:\. TensorFlow requires|\. Error)",
    r"Loaded runtime CuDNN library: (?P<loaded>[\d.]+)[^\n]*? but source was compiled with:? (?P<wanted>[\d.]*\d)",
    r"CUDNN_STATUS_(?:ARCH_MISMATCH|VERSION_MISMATCH|RUNTIME_PREREQUISITE_MISSING|SUBLIBRARY_\w+)",
    r"CUDA driver version is insufficient for CUDA runtime version|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH|"
    r"driver/library version mismatch",
    TARGET,
    r"CUDA_ERROR_(?:NO_BINARY_FOR_GPU|INVALID_PTX|UNSUPPORTED_PTX_VERSION|INVALID_IMAGE|INVALID_SOURCE|"
    r"NOT_INITIALIZED|INVALID_HANDLE)",
    r"no kernel image is available for execution on the device|device kernel image is invalid|unsupported toolchain",
    r"(?i)Invalid handle\. Cannot load symbol cud|cannot load symbol cudnn",
    r"(?:DNN|BLAS|FFT) (?:library )?(?:is )?not (?:found|supported)|No (?:DNN|BLAS) in stream executor|DNN "
    r"library (?:is not found|initialization failed)",
    r"StreamExecutor without (?:BLAS|DNN) support",
    r"cudaGetDevice\(\) failed|cudaGetDeviceCount|CUDA(?:_ERROR)?[ _](?:unknown|UNKNOWN)(?: error)?|no "
    r"CUDA-capable device is detected",
    r"(?i)failed to (?:load|open) (?:libcuda|cuda driver|nvcuda)",
)
# The driver compiles what TensorFlow hands to it: a set of libraries that fits together does not help.
PTX = re.compile(rf"{TARGET}|_PTX|NO_BINARY|INVALID_IMAGE|INVALID_HANDLE|kernel image|unsupported toolchain")
# The program insists on a card, and TensorFlow has none; why not, it said when it started.
NO_CARD = compiled(r"(?:Could not satisfy|Cannot assign a device)[^\n]*(?:GPU|gpu)")
NO_DRIVER = re.compile(
    r"does not match DSO version|failed call to cuInit|Could not load dynamic library|Cannot dlopen some GPU"
)
# The call failed, and the log does not say why: no memory for the library, or a library that does not fit.
UNSURE = compiled(
    r"Failed to load the native TensorFlow runtime|Failed to determine best cudnn",
    r"Check failed: (?:status|s) == CU(?:DNN|BLAS)_STATUS_SUCCESS",
    r"cuDNN failed to initialize|Failed to get convolution algorithm",
    r"Blas (?:x?GEMM\w*|SGEMM|GEMV|xGEMM\w*)[^\n]*launch failed|Blas \w+ launch failed",
    r"No algorithm worked!|failed to run cuBLAS routine|CU(?:BLAS|DNN|SOLVER|FFT)_STATUS_(?:INTERNAL_ERROR|"
    r"NOT_INITIALIZED|NOT_SUPPORTED|BAD_PARAM)",
    r"cu(?:DNN|dnn) \w+ launch failed|cudnn \w+ launch failed|cuDNN launch failure",
    r"CUDA error: (?:initialization error|invalid device|operation not supported)",
)


@rule(outranks=ECHOES)
def gpu_libraries_unusable(run: Run) -> Answer:
    """CUDA, cuDNN or cuBLAS is missing, of another version than TensorFlow wants, or fails to start.

    What happened
        TensorFlow loads the driver and NVIDIA's libraries at run time. One is not there, is too old or too new
        for it or for the card, or fails in its first call. On Windows the loader says it as "DLL load failed".

    How laststep knows
        The loader's or the library's own message ended the program. The same messages before a training that
        then goes on are harmless: TensorFlow uses the CPU instead, and this rule stays quiet.

    What to do
        Let pip bring the fitting set in a fresh environment: pip install "tensorflow[and-cuda]", and a driver
        that is new enough for it. Do not mix it with a system-wide CUDA on LD_LIBRARY_PATH. On Windows, GPU
        support ended with TensorFlow 2.10: use WSL 2; a "DLL load failed" also comes from a missing Visual C++
        runtime or from a processor without AVX.

    Not to be confused with
        gpu-memory-held (cuDNN starts, and finds no memory), library-incompatible (Python packages that do not
        go together), cuda-kernel-failed.
    """
    missing = verdict(run, "library-missing")
    if missing is not None:
        return Finding(
            cause="Windows could not load a library that the program needs (its exit code says so).",
            confidence=Confidence.CERTAIN,
            evidence=(quoted(missing),),
            remedies=WINDOWS,
        )
    lacks = find_message(run, *NO_CARD, console=False)
    reason = next((line for line in parsed_console(run).lines if NO_DRIVER.search(line.text)), None) if lacks else None
    if lacks is not None and reason is not None:
        told = Evidence(f"line {reason.number:,} of what it printed: “{reason.text[-160:]}”")
        cause = "The program asked for a GPU, and TensorFlow had found none that it can use."
        return answer(run, lacks, "", cause, _remedies(None), (told,), confidence=Confidence.LIKELY)
    known = list(find_messages(run, *SURE))
    sure = known[0] if known else None
    named = next((each for each in known if each.get("loaded") or each.get("library")), sure)  # the error may not
    message = sure or find_message(run, *UNSURE)
    gap = gap_of(run) if find_message(run, *REFUSED) else None
    if gap is not None and gap.is_too_new:
        return no("the libraries are not at fault: the card is newer than TensorFlow's build")
    return answer(
        run,
        message,
        "no GPU library failed to load or to start",
        cause=_cause(named, gap),
        remedies=_remedies(message, gap),
        more=(*((named.evidence,) if named and named is not sure else ()), *(gap.evidence if gap else ())),
        confidence=Confidence.CERTAIN if sure else Confidence.POSSIBLE,
    )


def _cause(sure: Message | None, gap: Gap | None) -> str:
    if gap is not None and gap.is_too_old:
        return f"This TensorFlow has no code for the GPU: {gap.between}."
    if sure is not None and sure.get("loaded"):
        return f"cuDNN {sure['loaded']} was loaded, and TensorFlow was built for {sure['wanted']}."
    if sure is not None and sure.get("library"):
        return f"The library {sure['library']} could not be loaded."
    if sure is not None:
        return "A GPU library could not be loaded or does not fit."
    return "A GPU library failed in its first call; whether for lack of memory or of a fitting version is not said."


def _remedies(message: Message | None, gap: Gap | None = None) -> tuple[Remedy, ...]:
    text = message.found.string if message else ""
    if PTX.search(text):
        return OLDER_BUILD if gap is not None and gap.is_too_old else NEWER_DRIVER
    if "libdevice" in text or "ptxas" in text:
        where = 'export XLA_FLAGS="--xla_gpu_cuda_data_dir=$CONDA_PREFIX/lib"'
        return (Remedy("Give XLA the CUDA compiler's files: install nvcc, and say where it is", where, safe=True),)
    if "DLL load failed" in text or "Native" in text:
        return WINDOWS
    return (
        Remedy("Take the set that fits together, in a fresh environment", 'pip install "tensorflow[and-cuda]"'),
        Remedy("See whether another process has the card's memory", "nvidia-smi", safe=True),
    )
