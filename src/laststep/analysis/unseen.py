"""Whether laststep looked at the training of a run; if not, why, and what to do to have it looked at."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Literal, TypeAlias

from laststep.analysis.finding import Remedy
from laststep.logs.read import parsed_console
from laststep.record.events.logs import Progress
from laststep.record.events.process import ProbeState, Raised, RecorderStart, Versions
from laststep.record.events.stacks import Attached
from laststep.record.events.supervisor import Child, RecorderMissing, RecordingStopped
from laststep.record.events.training import Epoch, FitStart
from laststep.record.run import Run, view

# closed: nothing was recorded from inside. elsewhere: another process trained. no-training: none did, that is known of.
Kind: TypeAlias = Literal["closed", "elsewhere", "no-training"]

MIN_SECONDS_WITHOUT_RECORDER = 10.0  # of a run that goes on: a launcher takes a while to start its Python
TRAINING_PROBES = ("keras_fit", "hand_loop")
START = Remedy(
    "Start laststep in the process that trains, before it trains", "import laststep\nlaststep.start()", safe=True
)
IN_FRONT = Remedy(
    "Put `laststep run` in front of the command that trains, in the script or launcher", "laststep run python train.py"
)
NO_RECORDER = "the program's Python did not load the recorder"


@dataclass(frozen=True)
class Unseen:
    """The training of a run was not looked at."""

    kind: Kind
    because: str
    remedy: Remedy | None = None

    @property
    def reads_console(self) -> bool:
        """There was, or may have been, training: what was printed is all there is about it."""
        return self.kind != "no-training"


@view
def unseen_of(run: Run) -> Unseen | None:
    """None where training was recorded, and where nobody could expect it: a bare log, an attached process."""
    if run.is_log or run.has(Attached) or run.training_seen:
        return None
    if not run.has(RecorderStart):
        return _closed(run)
    if run.alive:
        return None
    return _stopped_recording(run) or _elsewhere(run) or _no_training(run)


def _closed(run: Run) -> Unseen | None:
    if run.alive and run.seconds < MIN_SECONDS_WITHOUT_RECORDER:
        return None
    blind = run.last(RecorderMissing)
    if blind is None:
        return Unseen("closed", "nothing has been recorded from inside" if run.alive else NO_RECORDER, START)
    remedy = Remedy(blind.does, blind.instead or None, safe=True) if blind.does else START
    return Unseen("closed", blind.because, remedy)


def _stopped_recording(run: Run) -> Unseen | None:
    """The recorder was in the process, and could not see training there."""
    if not ended_in_order(run):
        return None
    for probe in run.all(ProbeState):
        if probe.name in TRAINING_PROBES and probe.state in ("unsupported", "removed"):
            return Unseen("closed", f"the probe {probe.name} could not work ({probe.because})")
    stopped = run.last(RecordingStopped)
    return Unseen("closed", f"recording stopped early ({stopped.because})") if stopped is not None else None


def _elsewhere(run: Run) -> Unseen | None:
    """Another process trained, or a library that is not recorded."""
    child = run.first(Child)
    if child is not None:
        which = "of multiprocessing" if _is_worker(child) else f"({shlex.join(child.command)})"
        because = f"TensorFlow was loaded in a child process {which}; only the first Python of a run is recorded"
        return Unseen("elsewhere", because, _in_child(child))
    if _console_shows_training(run):
        if run.has(Versions):
            here, else_ = "called no fit and ran no training step", "of a kind that is not recorded"
        else:
            here, else_ = "loaded neither Keras nor TensorFlow", "with another library"
        because = f"the recorded process {here}, and its console shows training: of a child process, or {else_}"
        return Unseen("elsewhere", because, IN_FRONT)
    if had_children(run) and error_of_another(run) is not None:
        return Unseen("elsewhere", "the console shows an error of another process than the recorded one", IN_FRONT)
    return None


def _is_worker(child: Child) -> bool:
    return any("multiprocessing" in word for word in child.command)


def _in_child(child: Child) -> Remedy:
    if _is_worker(child):
        return Remedy("Start laststep in the function that the process runs, before it trains", START.change, safe=True)
    does = "Put `laststep run` in front of the command of the process that trains"
    return Remedy(does, "laststep run " + shlex.join(child.command), safe=True)


def _console_shows_training(run: Run) -> bool:
    """Epochs of a fit; where Keras was not loaded, also a loss that is printed. An evaluation prints one too."""
    events = parsed_console(run).events
    if any(isinstance(event, (FitStart, Epoch)) for event in events):
        return True
    losses = [e for e in events if isinstance(e, Progress) and any("loss" in name.lower() for name in e.metrics)]
    return len(losses) > 1 and not run.has(Versions)


def had_children(run: Run) -> bool:
    return run.has(Child) or any((sample.processes or 0) > 1 for sample in run.samples)


def error_of_another(run: Run) -> Raised | None:
    """The printed traceback of an exception that the recorded process did not raise."""
    known = {_first_line(event.message) for event in [*run.all(Raised), *filter(None, [run.uncaught])]}
    shown = (event for event in parsed_console(run).events if isinstance(event, Raised))
    return next(
        (each for each in shown if each.left == "program" and each.frames and _first_line(each.message) not in known),
        None,
    )


def _first_line(message: str) -> str:
    return message.strip().partition("\n")[0].strip()


def _no_training(run: Run) -> Unseen | None:
    if not ended_in_order(run):
        return None
    versions = run.last(Versions)
    names = {"keras": "Keras", "tensorflow": "TensorFlow", "tf_keras": "tf_keras"}
    known = versions.known if versions is not None else {}
    loaded = " and ".join(f"{names[name]} {known[name]}" for name in names if name in known)
    libraries = f"although {loaded} {'were' if ' and ' in loaded else 'was'} loaded" if loaded else ""
    libraries = libraries or "and it loaded neither Keras nor TensorFlow"
    return Unseen("no-training", f"the program called no fit and ran no training step that laststep knows, {libraries}")


def ended_in_order(run: Run) -> bool:
    """In order, as far as the operating system and the recorder know."""
    failed = run.uncaught is not None or run.signal is not None or run.exit_code
    return not (run.alive or run.vanished or failed)
