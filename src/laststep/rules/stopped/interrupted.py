"""Interrupted by Ctrl-C or SIGINT."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, no
from laststep.analysis.progress import fit_place, progress
from laststep.analysis.signals import killed_with, received_signal, reported, sender, unknown_sender, verdict
from laststep.record.events.process import Raised
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule


@rule(tier=Tier.CONSEQUENCE, follows=("stalled",))
def interrupted(run: Run) -> Answer:
    """Ctrl-C, or a SIGINT from another process, interrupted the program.

    What happened
        SIGINT reached the program, which Python turns into KeyboardInterrupt. It comes from Ctrl-C, from a notebook's
        stop button, and from some batch systems, which send it before SIGKILL.

    How laststep knows
        laststep forwarded the signal, and recorded whether the terminal or a process sent it; or the program ended
        with KeyboardInterrupt.

    What to do
        Nothing, if it was you. Otherwise check the sender, where it is known, and the batch system's log.

    Not to be confused with
        terminated (SIGTERM), killed-by-signal (SIGKILL).
    """
    error = _keyboard_interrupt(run)
    received = received_signal(run, "SIGINT")
    if error is None and verdict(run, "asked") is not None:
        return no("the batch system reports who ended it")
    if not killed_with(run, 2, "SIGINT") and error is None and received is None:
        return no("neither SIGINT nor KeyboardInterrupt was recorded")
    if run.uncaught is None and run.exit_code == 0 and all(fit.complete for fit in run.fits[-1:]):
        return no("SIGINT arrived, and the program finished anyway")
    evidence = []
    by_whom = sender(run, "SIGINT")
    if by_whom:
        evidence.append(by_whom)
    if error is not None:
        caught = error.caught
        in_line = f"KeyboardInterrupt left fit and was caught in line {caught.line}" if caught else None
        evidence.append(Evidence(in_line or "the program ended with KeyboardInterrupt", (error,)))
    if killed_with(run, 2, "SIGINT"):
        evidence.append(reported(run, "SIGINT"))
    if by_whom is None:
        evidence.append(unknown_sender(run))
    evidence.append(progress(run))
    return Finding(
        cause="The program was interrupted (SIGINT)" + (f": {by_whom.says}." if by_whom else "."),
        confidence=Confidence.CERTAIN,
        evidence=tuple(evidence),
        where=((error.where or error.caught) if error is not None else None) or fit_place(run),
    )


def _keyboard_interrupt(run: Run) -> Raised | None:
    """The one that ended the program, or the one that left fit and was caught."""
    left = [run.uncaught, *(event for event in run.all(Raised) if event.left == "fit" and not run.survived(event))]
    return next((e for e in left if e is not None and "KeyboardInterrupt" in e.bases), None)
