"""Which signal ended the process, and what sent it: the program, a person, a batch system, laststep."""

from __future__ import annotations

from laststep.analysis.finding import Evidence, Unchecked, cannot
from laststep.record.events.process import ExitCall, Raised, SignalSent
from laststep.record.events.supervisor import ProcessEnd, SignalReceived, Verdict
from laststep.record.events.training import Stop
from laststep.record.run import FATAL, Run, view

ASKS_TO_END = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGXCPU")
EXIT_CODES = (124, 129, 130, 131, 137, 143)  # of timeout, and of a shell after one of these signals


def unseen_end(run: Run) -> Unchecked | None:
    """Why nothing can be said about how the process ended; None where its end is known."""
    if run.has(ProcessEnd):
        return None
    if run.is_log:
        return cannot("the log does not say how the process ended")
    if run.alive:
        return cannot("the run is still going on")
    return cannot("the end of the process was not recorded: the supervisor died with it, or before it")


def verdict(run: Run, *why: str) -> Verdict | None:
    """What a batch system, a container engine or the kernel reports in a log, if it is one of these reasons."""
    return next((event for event in run.all(Verdict) if event.why in why), None)


def quoted(event: Verdict | ProcessEnd | Stop) -> Evidence:
    """The line of a bare log that says so."""
    return Evidence(f"line {event.at_line or 0:,}: “{event.text.strip()[:200]}”", (event,))


def reported(run: Run, name: str) -> Evidence:
    """That the process ended by this signal: from the operating system, or the line of the log that says so."""
    end = run.last(ProcessEnd)
    if end is not None and run.is_log:
        return quoted(end)
    return Evidence(f"the operating system reports {name}", (end,) if end else ())


def killed_with(run: Run, number: int, name: str) -> bool:
    """The signal killed the process, or a shell around it says so by its exit code."""
    return run.signal == name or (run.signal is None and run.exit_code == 128 + number and not run.has(ExitCall))


def received_signal(run: Run, name: str) -> SignalReceived | None:
    """The last signal of this name that reached the supervisor."""
    return next((event for event in reversed(run.all(SignalReceived)) if event.signal == name), None)


def sent_by_program(run: Run, name: str) -> SignalSent | None:
    """The program's own call that sent it this signal."""
    return next((event for event in reversed(run.all(SignalSent)) if event.signal == name), None)


def stopped_by_laststep(run: Run) -> bool:
    """laststep ended it because it was stuck, as requested by a setting."""
    return any(event.by == "laststep" for event in run.all(SignalReceived))


def sender(run: Run, name: str) -> Evidence | None:
    """Who sent the signal, where that is known."""
    own = sent_by_program(run, name)
    if own is not None:
        return Evidence(f"the program sent {name} to itself with {own.how}", (own,))
    event = received_signal(run, name)
    if event is None:
        return None
    if event.by == "terminal":
        return Evidence("it came from the terminal (Ctrl-C or Ctrl-\\)", (event,))
    who = event.sender
    sent_by = f"process {who.pid} ({who.name or 'gone by then'})" if who else "a process that is not known"
    target = "the whole process group" if event.to_group else "the program"
    return Evidence(f"{sent_by} sent {name} to {target}", (event,))


def unknown_sender(run: Run) -> Evidence:
    if run.is_log:
        return Evidence("the log does not show who sent the signal")
    return Evidence("it was sent directly to the program, so its sender is not known")


@view
def ended_by_somebody(run: Run) -> float | None:
    """When somebody outside ended the program: the request that it followed, or the kill; None where nobody did.

    A request may go unanswered: Python handles Ctrl-C only when TensorFlow's call returns.
    """
    end = run.last(ProcessEnd)
    if run.is_log or run.alive:
        return None
    interrupts = [error.time for error in run.all(Raised) if "KeyboardInterrupt" in error.bases]
    asked = [event.time for event in run.all(SignalReceived) if event.signal in ASKS_TO_END] + interrupts
    killed = (run.signal not in (None, "SIGINT", *FATAL)) or run.vanished
    if end is not None and (killed or run.signal == "SIGINT" or run.exit_code in EXIT_CODES):
        asked = [end.time] if killed and not interrupts else [*asked, end.time]
    trained = max((step.time for step in run.steps[-1:]), default=0.0)
    return min((time for time in asked if time >= trained), default=None)
