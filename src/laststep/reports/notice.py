"""A few lines about a run that is stuck now: why, where, and what laststep does."""

from __future__ import annotations

from collections.abc import Sequence

from laststep.analysis.finding import Diagnosis
from laststep.analysis.hang import stall_of
from laststep.record.events.stacks import ThreadStack
from laststep.reports.page import Page
from laststep.reports.printing import clean
from laststep.text import format_duration, format_place

WIDTH = 80
NOT_STOPPED = "The program was not stopped."
ACTIONS = {
    "stop": "It is being stopped (--on-stall stop).",
    "restart": "It is being stopped and restarted (--on-stall restart).",
}


def stall_notice(diagnosis: Diagnosis, action: str = "warn") -> str:
    """The cause of a stall, or that none was found, while the program still hangs there."""
    stall = stall_of(diagnosis.run)
    if stall is None:
        return ""
    page = Page(WIDTH, cwd=diagnosis.run.cwd)
    page.text(f"laststep: no progress for {format_duration(stall.seconds)}", "", "")
    finding = next((found for found in diagnosis.findings if found.symptom == "stalled"), None)
    if finding is None:
        page.text("No cause found. All stacks: laststep why -v")
    else:
        page.text(f"{finding.rule}: {finding.cause}")
        where = finding.where
        if where is not None and where.text:
            page.text(f"    {format_place(where)}  {where.text}")
        for evidence in finding.evidence[1:3]:
            page.item(evidence.says)
    if action == "stacks":
        _stacks(page, stall.threads)
    page.text(ACTIONS.get(action, f"{NOT_STOPPED} More: laststep why") if action != "stacks" else NOT_STOPPED)
    return "\n" + str(page)


def _stacks(page: Page, threads: Sequence[ThreadStack]) -> None:
    for thread in threads:
        page.text(f"thread {clean(thread.name) or '?'}:")
        for frame in thread.frames:
            page.text(f"{frame.file}:{frame.line or '?'} in {frame.function}", "    ", "      ")
