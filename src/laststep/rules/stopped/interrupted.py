"""Interrupted by Ctrl-C or SIGINT."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, no
from laststep.analysis.progress import fit_place, progress
from laststep.analysis.signals import killed_with, received_signal, reported, sender, verdict
from laststep.record.events.process import Raised
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule


@rule(
    outranks=("script-exited", "unhandled-exception", "killed-by-signal", "callback-raised", "callback-swallowed"),
)
def interrupted(run: Run) -> Answer:
    """Ctrl-C, or a SIGINT from another process, interrupted the program.

    What happened
        SIGINT reached the program, which Python turns into KeyboardInterrupt. It comes from a person at the
        keyboard, from a notebook's stop button, and from some batch systems, which send it before they kill.

    How laststep knows
        The signal came through laststep, which then knows whether the terminal or a process sent it; or the
        program ended by KeyboardInterrupt.

    What to do
        Nothing, if it was you. If it was not, the sender is named where it is known; look into the batch
        system's log.

    Not to be confused with
        terminated (SIGTERM), killed-by-signal (SIGKILL).
    """
    error = _keyboard_interrupt(run)
    received = received_signal(run, "SIGINT")
    if error is None and verdict(run, "asked") is not None:
        return no("the batch system says who ended it")
    if not killed_with(run, 2, "SIGINT") and error is None and received is None:
        return no("no SIGINT and no KeyboardInterrupt was seen")
    if run.uncaught is None and run.exit_code == 0 and all(fit.complete for fit in run.fits[-1:]):
        return no("SIGINT came, and the program finished all the same")
    evidence = []
    by_whom = sender(run, "SIGINT")
    if by_whom:
        evidence.append(by_whom)
    if error is not None:
        caught = error.caught
        told = f"KeyboardInterrupt left fit and was caught in line {caught.line}" if caught else None
        evidence.append(Evidence(told or "the program ended by KeyboardInterrupt", (error,)))
    if killed_with(run, 2, "SIGINT"):
        evidence.append(reported(run, "SIGINT"))
    if by_whom is None:
        evidence.append(Evidence("it was sent to the program itself, so the sender is not known"))
    evidence.append(progress(run))
    return Finding(
        cause="The program was interrupted (SIGINT)" + (f": {by_whom.says}." if by_whom else "."),
        confidence=Confidence.CERTAIN,
        evidence=tuple(evidence),
        where=((error.where or error.caught) if error is not None else None) or fit_place(run),
    )


def _keyboard_interrupt(run: Run) -> Raised | None:
    """The one that ended the program, or the one that left fit and was caught."""
    left = [run.uncaught, *(event for event in run.all(Raised) if event.left == "fit")]
    return next((e for e in left if e is not None and "KeyboardInterrupt" in e.bases), None)
