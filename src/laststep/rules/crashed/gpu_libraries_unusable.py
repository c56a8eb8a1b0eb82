"""CUDA, cuDNN or cuBLAS could not be loaded or initialized."""

from __future__ import annotations

import re

from laststep.analysis.capability import NEWER_DRIVER, OLDER_BUILD, REFUSED, TARGET, CapabilityGap, capability_gap
from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.messages import Message, answer, compiled, find_message, find_messages
from laststep.analysis.signals import quoted, verdict
from laststep.logs.read import parsed_console
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

_LIBRARY = (
    r"(?:lib)?(?:cuda|cudart|cublas|cublasLt|cudnn|cufft|curand|cusolver|cusparse|nccl|nvrtc|nvJitLink|cupti|nvinfer)"
)
WINDOWS = (
    Remedy("Install the Visual C++ runtime; for a GPU, run TensorFlow in WSL 2", "wsl --install"),
    Remedy("Check whether the processor has AVX, which TensorFlow's wheels need"),
)
# The message names what is missing or which version was loaded.
CERTAIN = compiled(
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
# The driver could not compile TensorFlow's code: another set of libraries does not help.
PTX = re.compile(rf"{TARGET}|_PTX|NO_BINARY|INVALID_IMAGE|INVALID_HANDLE|kernel image|unsupported toolchain")
# The program requires a GPU, and TensorFlow has none; its messages at the start say why.
NO_GPU = compiled(r"(?:Could not satisfy|Cannot assign a device)[^\n]*(?:GPU|gpu)")
NO_DRIVER = re.compile(
    r"does not match DSO version|failed call to cuInit|Could not load dynamic library|Cannot dlopen some GPU"
)
# The call failed, and the message does not say why: no memory for the library, or the wrong version.
POSSIBLE = compiled(
    r"Failed to load the native TensorFlow runtime|Failed to determine best cudnn",
    r"Check failed: (?:status|s) == CU(?:DNN|BLAS)_STATUS_SUCCESS",
    r"cuDNN failed to initialize|Failed to get convolution algorithm",
    r"Blas (?:x?GEMM\w*|SGEMM|GEMV|xGEMM\w*)[^\n]*launch failed|Blas \w+ launch failed",
    r"No algorithm worked!|failed to run cuBLAS routine|CU(?:BLAS|DNN|SOLVER|FFT)_STATUS_(?:INTERNAL_ERROR|"
    r"NOT_INITIALIZED|NOT_SUPPORTED|BAD_PARAM)",
    r"cu(?:DNN|dnn) \w+ launch failed|cudnn \w+ launch failed|cuDNN launch failure",
    r"CUDA error: (?:initialization error|invalid device|operation not supported)",
)


@rule()
def gpu_libraries_unusable(run: Run) -> Answer:
    """CUDA, cuDNN or cuBLAS is missing, has the wrong version, or fails to initialize.

    What happened
        TensorFlow loads the driver and NVIDIA's libraries at run time. One is missing, is too old or too new
        for TensorFlow or for the GPU, or fails in its first call. On Windows the loader reports "DLL load
        failed".

    How laststep knows
        The loader's or the library's own message ended the program. The same messages are harmless before a
        training that continues: TensorFlow uses the CPU instead, and this rule does not fire.

    What to do
        Let pip install the matching set in a fresh environment: pip install "tensorflow[and-cuda]", with a
        driver that is new enough for it. Do not mix it with a system-wide CUDA on LD_LIBRARY_PATH. On Windows,
        GPU support ended with TensorFlow 2.10: use WSL 2; "DLL load failed" is also caused by a missing Visual
        C++ runtime or a processor without AVX.

    Not to be confused with
        gpu-memory-held (cuDNN starts and finds no memory), library-incompatible (incompatible Python packages),
        cuda-kernel-failed.
    """
    missing = verdict(run, "library-missing")
    if missing is not None:
        return Finding(
            cause="Windows could not load a library that the program needs (its exit code says so).",
            confidence=Confidence.CERTAIN,
            evidence=(quoted(missing),),
            remedies=WINDOWS,
        )
    no_gpu = find_message(run, *NO_GPU, console=False)
    reason = next((line for line in parsed_console(run).lines if NO_DRIVER.search(line.text)), None) if no_gpu else None
    if no_gpu is not None and reason is not None:
        quoted_reason = Evidence(f"line {reason.number:,}: “{reason.text[-160:]}”")
        cause = "The program requires a GPU, but TensorFlow found none that it can use."
        return answer(run, no_gpu, "", cause, _remedies(None), (quoted_reason,), confidence=Confidence.LIKELY)
    known = list(find_messages(run, *CERTAIN))
    certain = known[0] if known else None
    # The error that ended it may name no library or version, where a line before it does.
    named = next((each for each in known if each.get("loaded") or each.get("library")), certain)
    message = certain or find_message(run, *POSSIBLE)
    gap = capability_gap(run) if find_message(run, *REFUSED) else None
    if gap is not None and gap.is_too_new:
        return no("the libraries are not at fault: the GPU is newer than TensorFlow's build")
    return answer(
        run,
        message,
        "no GPU library failed to load or initialize",
        cause=_cause(named, gap),
        remedies=_remedies(message, gap),
        more=(*((named.evidence,) if named and named is not certain else ()), *(gap.evidence if gap else ())),
        confidence=Confidence.CERTAIN if certain else Confidence.POSSIBLE,
    )


def _cause(named: Message | None, gap: CapabilityGap | None) -> str:
    if gap is not None and gap.is_too_old:
        return f"This build of TensorFlow has no code for the GPU: {gap.description}."
    if named is not None and named.get("loaded"):
        return f"cuDNN {named['loaded']} was loaded, but TensorFlow was built for {named['wanted']}."
    if named is not None and named.get("library"):
        return f"The library {named['library']} could not be loaded."
    if named is not None:
        return "A GPU library could not be loaded, or has the wrong version."
    return "A GPU library failed in its first call: no memory, or the wrong version. The message does not say which."


def _remedies(message: Message | None, gap: CapabilityGap | None = None) -> tuple[Remedy, ...]:
    text = message.found.string if message else ""
    if PTX.search(text):
        return OLDER_BUILD if gap is not None and gap.is_too_old else NEWER_DRIVER
    if "libdevice" in text or "ptxas" in text:
        where = 'export XLA_FLAGS="--xla_gpu_cuda_data_dir=$CONDA_PREFIX/lib"'
        return (Remedy("Install nvcc for XLA, and set the folder that it is in", where, safe=True),)
    if "DLL load failed" in text or "Native" in text:
        return WINDOWS
    return (
        Remedy("Install the matching set of libraries in a fresh environment", 'pip install "tensorflow[and-cuda]"'),
        Remedy("Check whether another process holds the GPU's memory", "nvidia-smi", safe=True),
    )
