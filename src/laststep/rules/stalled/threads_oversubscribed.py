"""More threads than cores."""

from __future__ import annotations

from laststep.analysis.finding import Confidence, Evidence, Finding, Remedy, cannot, measured, no
from laststep.analysis.progress import fit_place
from laststep.record.events.supervisor import Launch, Limits
from laststep.record.events.training import Setup
from laststep.record.run import Run
from laststep.rules.rule import Answer, rule

MAX_THREADS_PER_CORE = 2.0
MIN_QUEUE_RATIO = 0.5  # seconds of waiting for a core, per second of running
MIN_CPU_SECONDS = 3.0
NAMES = {"intra": "intra-op threads", "inter": "inter-op threads"}
VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")


@rule(sees=("inside",), ends=False)
def threads_oversubscribed(run: Run) -> Answer:
    """Many more computing threads are configured than there are cores, and they slow each other down.

    What happened
        tf.config.threading, OMP_NUM_THREADS or a similar setting sets many more threads than the machine, the
        container or the batch system has cores. The threads take turns, wait for each other at every operation, and
        evict each other's data from the caches.

    How laststep knows
        The settings are read from TensorFlow and the environment, the cores from the CPU affinity and the control
        group's quota. The kernel counts how long the program's threads were ready to run and waited for a core.

    What to do
        Remove the settings (0: TensorFlow chooses), or set them to the number of cores.

    Not to be confused with
        input-starved (the step waits for data), machine-overloaded (other processes keep the cores busy).
    """
    limits, setup, launch = run.first(Limits), run.last(Setup), run.first(Launch)
    cores = (limits.cores if limits else None) or 0.0
    if not cores or setup is None:
        return cannot("the number of cores or of TensorFlow's threads is not known")
    threads = {"intra": setup.intra, "inter": setup.inter}
    asked = {f"{NAMES[name]} (tf.config.threading)": count for name, count in threads.items() if count}
    environment = launch.environment if launch else {}
    asked |= {name: int(environment[name]) for name in VARIABLES if environment.get(name, "").isdigit()}
    too_many = {name: count for name, count in asked.items() if count > MAX_THREADS_PER_CORE * cores}
    if not too_many:
        return no(f"no setting is for more than {MAX_THREADS_PER_CORE:g} threads per core")
    ratio = _queue_ratio(run)
    name, count = max(too_many.items(), key=lambda item: item[1])
    if ratio is None:
        return cannot(f"too short to tell whether {count} {name} compete for {cores:g} cores")
    if ratio < MIN_QUEUE_RATIO:
        return measured(f"{count} {name} waited {ratio:.1f} s for one of {cores:g} cores per second of running")
    return Finding(
        cause=f"{count} {name} for {cores:g} cores: the threads compete for them.",
        confidence=Confidence.LIKELY,
        evidence=(
            Evidence("; ".join(f"{name}: {count}" for name, count in too_many.items()), (setup,)),
            Evidence(f"the program may use {cores:g} cores", (limits,) if limits else ()),
            Evidence(f"its threads waited {ratio:.1f} s for a core per second of running"),
        ),
        remedies=(
            Remedy("Configure as many threads as there are cores, or leave it to TensorFlow", _change(name, cores)),
        ),
        where=fit_place(run),
    )


def _change(name: str, cores: float) -> str:
    kind = next((kind for kind in NAMES if NAMES[kind] in name), "")
    if kind:
        return f"tf.config.threading.set_{kind}_op_parallelism_threads({max(1, int(cores))})"
    return f"{name}={cores:.0f}"


def _queue_ratio(run: Run) -> float | None:
    """Seconds of waiting for a core per second of running, in the second half."""
    known = [sample.queue for sample in run.samples if sample.queue is not None]
    late = known[len(known) // 2 :]
    if len(late) < 2 or late[-1][0] - late[0][0] < MIN_CPU_SECONDS:
        return None
    return (late[-1][1] - late[0][1]) / (late[-1][0] - late[0][0])
