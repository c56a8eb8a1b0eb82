"""gpu-hardware-fault: an Xid counts for the process that it names."""

from __future__ import annotations

import pytest

from tests.rules.runs import diagnosed, event


@pytest.mark.parametrize(("pid", "fires"), [(7, True), (8, False)])
def test_an_xid_counts_for_the_process_that_it_names(pid: int, fires: bool) -> None:
    line = f"NVRM: Xid (PCI:0000:3b:00): 79, pid={pid}, name=python, GPU has fallen off the bus."
    diagnosis = diagnosed(event(90.0, "kernel", line=line), code=None, signal="SIGABRT")
    assert (diagnosis.findings[0].rule == "gpu-hardware-fault") is fires
