"""GPUs, through NVML: memory, utilization, temperature, errors, which processes hold the memory."""

from __future__ import annotations

import os
from typing import Any


class Gpus:
    """`because` says why if there is nothing to read."""

    def __init__(self) -> None:
        self.because: str | None = None
        self._handles: list[Any] = []
        self._nvml: Any = None
        if not os.path.exists("/dev/nvidiactl") and not os.path.exists("/proc/driver/nvidia"):
            self.because = "no NVIDIA driver here"  # checked first: loading the library in vain takes longer
            return
        try:
            import pynvml

            pynvml.nvmlInit()
            self._nvml = pynvml
            self._handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
        except ImportError:
            self.because = "nvidia-ml-py is not installed"
        except Exception as error:  # noqa: BLE001 - NVML's own error classes, which cannot be named without the library
            self.because = str(error) or type(error).__name__

    def describe(self) -> list[dict[str, Any]]:
        """As read(), with the compute capability, which never changes."""
        return [card | self._capability(self._handles[card["gpu"]]) for card in self.read()]

    def _capability(self, handle: Any) -> dict[str, str]:
        found = self._value_or_none(lambda: self._nvml.nvmlDeviceGetCudaComputeCapability(handle))
        return {"capability": "{}.{}".format(*found)} if found else {}

    def read(self) -> list[dict[str, Any]]:
        found = []
        for index, handle in enumerate(self._handles):
            try:
                found.append({"gpu": index} | self._read_one(handle))
            except self._nvml.NVMLError as error:
                found.append({"gpu": index, "error": str(error)})
        return found

    def _read_one(self, handle: Any) -> dict[str, Any]:
        memory = self._nvml.nvmlDeviceGetMemoryInfo(handle)
        values: dict[str, Any] = {"used": memory.used, "total": memory.total}
        values["busy"] = self._value_or_none(lambda: self._nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
        values["celsius"] = self._value_or_none(lambda: self._nvml.nvmlDeviceGetTemperature(handle, 0))
        processes = self._value_or_none(lambda: self._nvml.nvmlDeviceGetComputeRunningProcesses(handle)) or []
        values["held_by"] = [{"pid": process.pid, "used": process.usedGpuMemory} for process in processes[:8]]
        return {name: value for name, value in values.items() if value is not None}

    def _value_or_none(self, read: Any) -> Any:
        try:
            return read()
        except self._nvml.NVMLError:
            return None
