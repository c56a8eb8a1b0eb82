"""A card's compute capability against those that TensorFlow's build has code for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from laststep.analysis.finding import Evidence, Remedy
from laststep.analysis.messages import compiled
from laststep.logs.read import parsed_console
from laststep.record.run import Run

Capability = tuple[int, int]

NEWEST_IN_WHEELS: Capability = (9, 0)  # of all releases up to 2.21
TARGET = r"PTX version [\d.]+ does not support target '?sm_(?P<sm>\d+)"
# The driver or the compiler refuses the code that the build holds; another set of libraries does not help.
REFUSED = compiled(
    TARGET,
    r"CUDA_ERROR_(?:INVALID_PTX|NO_BINARY_FOR_GPU|INVALID_IMAGE)",
    r"no kernel image is available for execution on the device(?![\s\S]*TORCH_)|device kernel image is invalid",
    r"cu(?:LaunchKernel|ModuleGetFunction|ModuleLoadData)\([^\n]*CUDA_ERROR_INVALID_HANDLE",
)
BUILD = 'tf.sysconfig.get_build_info()["cuda_compute_capabilities"]'
CARD = "nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv"
OLDER_BUILD = (
    Remedy("Take an older release of TensorFlow, whose build still has code for this card", BUILD, safe=True),
    Remedy("Or train on the CPU", "CUDA_VISIBLE_DEVICES=-1 python train.py"),
)
NEWER_DRIVER = (
    Remedy("See which card and driver it is, and which cards TensorFlow has code for", f"{CARD}\n{BUILD}", safe=True),
    Remedy("Update the driver: it compiles for the card what TensorFlow hands to it"),
)
# The card's capability as the framework names it when it has no code for it, the most telling line first.
_WITHOUT_CODE = compiled(
    TARGET, r"not built with CUDA kernel binaries compatible with compute capability (?P<dotted>\d+\.\d+)"
)
_CREATED = compiled(r"Created (?:TensorFlow )?device [^\n]*GPU[^\n]*compute capability: (?P<dotted>\d+\.\d+)")
_ARCHITECTURE = re.compile(r"(?:sm|compute)_(\d{1,2})(\d)[a-z]?")
_DOTTED = re.compile(r"(\d{1,2})\.(\d)")


@dataclass(frozen=True)
class Gap:
    """One card and one build."""

    card: Capability
    built: tuple[Capability, ...]  # empty where the build is not known
    is_said: bool  # by the framework itself, not worked out from what the driver reports
    evidence: tuple[Evidence, ...]

    @property
    def is_covered(self) -> bool:
        """Code for 8.0 runs on 8.0 to 8.9, and on nothing else."""
        return any(built[0] == self.card[0] and built <= self.card for built in self.built)

    @property
    def is_too_new(self) -> bool:
        return self.card > max(self.built, default=NEWEST_IN_WHEELS) and not self.is_covered

    @property
    def between(self) -> str:
        """The gap in words."""
        if not self.built:
            return f"its compute capability is {dotted(self.card)}"
        end, most = (self.built[0], "oldest") if self.is_too_old else (self.built[-1], "newest")
        return f"its compute capability is {dotted(self.card)}, the {most} that the build knows is {dotted(end)}"

    @property
    def is_too_old(self) -> bool:
        return bool(self.built) and self.card < min(self.built)


def gap_of(run: Run) -> Gap | None:
    """None where the card is not known, or where several cards differ and no message names one."""
    build, limits = run.last("build"), run.first("limits")
    names = build.get("capabilities") if build is not None else None
    built = tuple(sorted(_all(names))) if isinstance(names, list) else ()
    known = (
        (Evidence(f"TensorFlow's build has code for {', '.join(map(dotted, built))}", (build,)),)
        if build and built
        else ()
    )
    for pattern in (*_WITHOUT_CODE, *(_CREATED if built else ())):
        found = next(
            ((line, match) for line in parsed_console(run).lines if (match := pattern.search(line.text))), None
        )
        if found:
            line, match = found
            [card] = _all([f"sm_{match['sm']}" if "sm" in match.groupdict() else match["dotted"]])
            says = f"line {line.number:,} of what it printed names a card of compute capability {dotted(card)}"
            return Gap(card, built, True, (Evidence(says), *known))
    cards = set(_all(card.get("capability") for card in (limits.get("gpus") if limits else None) or []))
    if limits is None or not built or len(cards) != 1:
        return None
    [card] = cards
    return Gap(
        card, built, False, (Evidence(f"the driver reports compute capability {dotted(card)}", (limits,)), *known)
    )


def _all(names: Iterable[object]) -> list[Capability]:
    """sm_89, compute_120, sm_120a, 8.9"""
    found = [_ARCHITECTURE.match(str(name)) or _DOTTED.match(str(name)) for name in names]
    return [(int(each[1]), int(each[2])) for each in found if each]


def dotted(capability: Capability) -> str:
    return f"{capability[0]}.{capability[1]}"
