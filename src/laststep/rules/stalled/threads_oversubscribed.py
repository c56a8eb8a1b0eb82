"""More threads than cores."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, measured, no
from laststep.analysis.progress import fit_place
from laststep.record.events.supervisor import Launch, Limits
from laststep.record.events.training import Setup
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

TIMES = 2.0  # more threads than cores
WAITED = 0.5  # seconds in the queue for each second of running
NAMES = {"intra": "intra-op threads", "inter": "inter-op threads"}
VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")


@rule(needs=("recorder",))
def threads_oversubscribed(run: Run) -> Answer:
    """More computing threads were asked for than there are cores, and they stand in each other's way.

    What happened
        tf.config.threading, OMP_NUM_THREADS or the like ask for many more threads than the machine, the container or
        the batch system gives cores. The threads take turns, wait for each other at every operation, and throw each
        other's data out of the caches.

    How laststep knows
        The settings are read from TensorFlow and the environment, the cores from the affinity and the control
        group's quota; the kernel counts how long the program's threads were ready to run and waited for a core.

    What to do
        Leave the settings away (0: TensorFlow chooses), or set them to the cores there are.

    Not to be confused with
        input-starved (the step waits for data), machine-overloaded (others keep the cores busy).
    """
    limits, setup, launch = run.first(Limits), run.last(Setup), run.first(Launch)
    cores = (limits.cores if limits else None) or 0.0
    if not cores or setup is None:
        return no("the number of cores or TensorFlow's threads are not known")
    threads = {"intra": setup.intra, "inter": setup.inter}
    asked = {f"{NAMES[name]} (tf.config.threading)": count for name, count in threads.items() if count}
    environment = launch.environment if launch else {}
    asked |= {name: int(environment[name]) for name in VARIABLES if environment.get(name, "").isdigit()}
    too_many = {name: count for name, count in asked.items() if count > TIMES * cores}
    if not too_many:
        return no("no more threads were asked for than there are cores")
    waited = _waited(run)
    name, count = max(too_many.items(), key=lambda item: item[1])
    if waited is None or waited < WAITED:
        queued = "" if waited is None else f", which waited {waited:.1f} s for each second that they ran"
        return measured(f"{count} {name} for {cores:g} cores{queued}")
    kind = next((kind for kind in NAMES if NAMES[kind] in name), "")
    change = (
        f"tf.config.threading.set_{kind}_op_parallelism_threads({max(1, int(cores))})"
        if kind
        else f"{name}={cores:.0f}"
    )
    return Finding(
        cause=f"{count} {name} for {cores:g} cores: the threads wait for each other.",
        confidence=Confidence.LIKELY,
        evidence=(
            Evidence("; ".join(f"{name}: {count}" for name, count in too_many.items()), (setup,)),
            Evidence(f"the program may use {cores:g} cores", (limits,) if limits else ()),
            Evidence(f"its threads waited {waited:.1f} s for a core for each second that they ran"),
        ),
        remedies=(Remedy("Ask for as many threads as there are cores, or leave it to TensorFlow", change),),
        where=fit_place(run),
    )


def _waited(run: Run) -> float | None:
    """Seconds in the queue for each second of running, in the later half."""
    known = [sample.queue for sample in run.samples if sample.queue is not None]
    late = known[len(known) // 2 :]
    if len(late) < 2 or late[-1][0] - late[0][0] < 3.0:
        return None
    return (late[-1][1] - late[0][1]) / (late[-1][0] - late[0][0])
