"""A GPU's compute capability compared with those that TensorFlow's build has code for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from laststep.analysis.finding import Evidence, Remedy
from laststep.analysis.messages import compiled
from laststep.logs.read import parsed_console
from laststep.record.events.process import Build
from laststep.record.events.supervisor import Limits
from laststep.record.run import Run

Capability = tuple[int, int]

NEWEST_IN_WHEELS: Capability = (9, 0)  # of all releases up to 2.21
TARGET = r"PTX version [\d.]+ does not support target '?sm_(?P<sm>\d+)"
# The driver or the compiler rejects the code in the build; another set of libraries does not help.
REFUSED = compiled(
    TARGET,
    r"CUDA_ERROR_(?:INVALID_PTX|NO_BINARY_FOR_GPU|INVALID_IMAGE)",
    r"no kernel image is available for execution on the device(?![\s\S]*TORCH_)|device kernel image is invalid",
    r"cu(?:LaunchKernel|ModuleGetFunction|ModuleLoadData)\([^\n]*CUDA_ERROR_INVALID_HANDLE",
)
BUILD = 'tf.sysconfig.get_build_info()["cuda_compute_capabilities"]'
GPU = "nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv"
OLDER_BUILD = (
    Remedy("Use an older release of TensorFlow, whose build still has code for this GPU", BUILD, safe=True),
    Remedy("Or train on the CPU", "CUDA_VISIBLE_DEVICES=-1 python train.py"),
)
NEWER_DRIVER = (
    Remedy("Check the GPU, its driver, and the GPUs that TensorFlow has code for", f"{GPU}\n{BUILD}", safe=True),
    Remedy("Update the driver: it compiles TensorFlow's PTX for the GPU"),
)
# The GPU's capability as the framework names it when it has no code for it, the most specific line first.
_WITHOUT_CODE = compiled(
    TARGET, r"not built with CUDA kernel binaries compatible with compute capability (?P<dotted>\d+\.\d+)"
)
_CREATED = compiled(r"Created (?:TensorFlow )?device [^\n]*GPU[^\n]*compute capability: (?P<dotted>\d+\.\d+)")
_ARCHITECTURE = re.compile(r"(?:sm|compute)_(\d{1,2})(\d)[a-z]?")
_DOTTED = re.compile(r"(\d{1,2})\.(\d)")


@dataclass(frozen=True)
class CapabilityGap:
    """One GPU and one build."""

    gpu: Capability
    built: tuple[Capability, ...]  # empty where the build is not known
    is_printed: bool  # by the framework itself, not derived from what the driver reports
    evidence: tuple[Evidence, ...]

    @property
    def is_covered(self) -> bool:
        """Code for 8.0 runs on 8.0 to 8.9, and on nothing else."""
        return any(built[0] == self.gpu[0] and built <= self.gpu for built in self.built)

    @property
    def is_too_new(self) -> bool:
        return self.gpu > max(self.built, default=NEWEST_IN_WHEELS) and not self.is_covered

    @property
    def description(self) -> str:
        if not self.built:
            return f"its compute capability is {dotted(self.gpu)}"
        end, extreme = (self.built[0], "oldest") if self.is_too_old else (self.built[-1], "newest")
        return f"its compute capability is {dotted(self.gpu)}; the {extreme} that the build supports is {dotted(end)}"

    @property
    def is_too_old(self) -> bool:
        return bool(self.built) and self.gpu < min(self.built)


def capability_gap(run: Run) -> CapabilityGap | None:
    """None where the GPU is not known, or where several GPUs differ and no message names one."""
    build, limits = run.last(Build), run.first(Limits)
    built = tuple(sorted(_parse_all(build.capabilities or ()))) if build is not None else ()
    known = (
        (Evidence(f"TensorFlow's build has code for compute capability {', '.join(map(dotted, built))}", (build,)),)
        if build and built
        else ()
    )
    for pattern in (*_WITHOUT_CODE, *(_CREATED if built else ())):
        found = next(
            ((line, match) for line in parsed_console(run).lines if (match := pattern.search(line.text))), None
        )
        if found:
            line, match = found
            [gpu] = _parse_all([f"sm_{match['sm']}" if "sm" in match.groupdict() else match["dotted"]])
            names = Evidence(f"line {line.number:,} names a GPU of compute capability {dotted(gpu)}")
            return CapabilityGap(gpu, built, True, (names, *known))
    reported = set(_parse_all(state.capability for state in limits.gpus)) if limits is not None else set()
    if limits is None or not built or len(reported) != 1:
        return None
    [gpu] = reported
    by_driver = Evidence(f"the driver reports compute capability {dotted(gpu)}", (limits,))
    return CapabilityGap(gpu, built, False, (by_driver, *known))


def _parse_all(names: Iterable[str]) -> list[Capability]:
    """sm_89, compute_120, sm_120a, 8.9"""
    found = [_ARCHITECTURE.match(name) or _DOTTED.match(name) for name in names]
    return [(int(each[1]), int(each[2])) for each in found if each]


def dotted(capability: Capability) -> str:
    return f"{capability[0]}.{capability[1]}"
