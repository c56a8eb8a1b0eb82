"""The program exited by itself."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, no
from laststep.analysis.messages import short_message
from laststep.analysis.progress import progress, went_on
from laststep.analysis.signals import unseen_end
from laststep.record.events.process import ExitCall, Exiting, Raised
from laststep.record.events.supervisor import ProcessEnd
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule


@rule(tier=Tier.ECHO, sees=("inside",), follows=("stopped", "crashed", "stalled"))
def script_exited(run: Run) -> Answer:
    """The program exited by itself (sys.exit, exit(), os._exit), in the middle of training or with a failure code.

    What happened
        A line of the program (or of a library that it uses) ended the program. In the middle of a fit that is rarely
        intended: a check in a callback, a signal handler, a helper that calls sys.exit. os._exit is the most abrupt: no
        cleanup runs, and buffered output is lost.

    How laststep knows
        The call was recorded, with its line and its exit code, and whether a fit was running. Without a recorded call:
        an exit code that no exception explains.

    What to do
        Check the line shown. If it should report an error, raise an exception: then the traceback says why.

    Not to be confused with
        unhandled-exception, callback-stopped-training (fit was stopped and returned normally).
    """
    unseen = unseen_end(run)
    if unseen is not None:
        return unseen
    call = run.last(ExitCall)
    if run.signal is not None:
        return no("a signal ended the process")
    if run.uncaught is not None:
        return no("an exception ended the program")
    if call is None:
        return _unseen(run)
    if went_on(run, call.time) or (run.steps and run.steps[-1].time > call.time):
        return no("an exit was requested and caught: training continued")
    hard = call.how == "os._exit"
    if run.has(Exiting) and hard:
        return no("os._exit was called in another process")
    if call.fit is None and not run.exit_code:
        return no("it exited with code 0, outside any fit")
    return _finding(run, call)


def _unseen(run: Run) -> Answer:
    if not run.exit_code:
        return no("the program ended with code 0, and no early exit was recorded")
    return Finding(
        cause=f"The program ended with exit code {run.exit_code}, without an exception.",
        confidence=Confidence.LIKELY,
        evidence=(
            Evidence(f"exit code {run.exit_code}, and no exception left the program", tuple(run.all(ProcessEnd))),
            progress(run),
        ),
        remedies=(Remedy("Look for `raise SystemExit` and for native code that calls exit()"),),
    )


def _finding(run: Run, call: ExitCall) -> Answer:
    evidence = [Evidence(f"{call.how}({_status(call)}) was called", (call,))]
    if call.fit is not None:
        evidence.append(Evidence(f"a fit was running, in epoch {(call.epoch or 0) + 1}", (call,)))
    before = [e for e in run.all(Raised) if e.time <= call.time and e.left in ("fit", "call")]
    if before:
        evidence.append(Evidence(f"shortly before, the program had caught {short_message(before[-1])}", (before[-1],)))
    evidence.append(progress(run))
    middle = " in the middle of training" if call.fit is not None else ""
    return Finding(
        cause=f"The program exited by itself{middle}: {call.how}({_status(call)}).",
        confidence=Confidence.CERTAIN,
        evidence=tuple(evidence),
        remedies=(_remedy(call),),
        where=call.where,
    )


def _remedy(call: ExitCall) -> Remedy:
    if call.fit is not None and not call.status and not call.message:
        return Remedy(
            "To stop the training from a callback, set stop_training", "self.model.stop_training = True", call.where
        )
    return Remedy("If this line reports a failure, raise an exception instead: its traceback shows the reason")


def _status(call: ExitCall) -> str:
    if call.message:
        return repr(call.message)
    return str(call.status) if call.status is not None else ""
