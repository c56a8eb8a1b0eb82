"""Another process of the training was lost."""

from __future__ import annotations

import re

from laststep.analysis.finding import Confidence, Evidence, Remedy
from laststep.analysis.messages import Message, answer, compiled, find_message, find_messages
from laststep.record.run import Run
from laststep.rules.rule import Answer, Tier, rule

_TASK = r"/job:(?P<job>\w+)/(?:replica:\d+/)?task:(?P<task>\d+)"
MESSAGES = compiled(
    rf"{_TASK}[^\n]*(?:heartbeat timeout|is (?:dead|unhealthy|lost|unavailable)|has (?:crashed|failed|died)|"
    rf"recorded as (?:error|disconnected)|restarted|preempted)",
    r"(?i)heartbeat(?:s)? (?:timed? ?out|timeout|failure|missed)|(?:tasks|task) (?:have|has) (?:crashed|failed|died)",
    r"(?:UnavailableError|UNAVAILABLE)[^\n]*(?:Socket closed|Connection (?:reset|refused)|failed to connect to "
    r"(?:all|remote)|GOAWAY|Endpoint read failed|Broken pipe|keepalive|OS Error|recvmsg|tcp handshaker)[^\n]*",
    r"Collective ops is aborted by:[^\n]*(?:UNAVAILABLE|Connection|Socket|peer|CANCELLED|check health|heartbeat|"
    r"failed to connect)[^\n]*",
    r"Error received from peer(?: ipv[46]:(?P<address>[\d.:\[\]a-f]+))?",
    rf"GRPC error information from remote target {_TASK}",
    r"lame workers found|communication peer process has unexpectedly disconnected",
    r"Horovod has been shut down|failed to connect to all addresses|Failed to connect to (?:channel|remote host)|"
    r"remote target has been disconnected",
    r"Connection (?:reset|closed) by (?:remote )?peer|(?:remote|another|other) process (?:has )?exited|There was "
    r"an error initializing an `?nccl`?",
    r"(?i)RPC failed with status = \"?UNAVAILABLE|grpc_error_string|rank (?P<rank>\d+) (?:is )?(?:down|"
    r"dead|lost|not responding)",
    r"ncclRemoteError|ncclSystemError|NCCL (?:WARN|error)[^\n]*(?:remote|peer|timed? ?out|connection)|unhandled "
    r"(?:system|"
    r"remote) error, NCCL",
    r"HorovodInternalError|ORTE has lost communication|mpirun noticed that process rank (?P<rank>\d+)|lost "
    r"connection to (?:worker|ps|peer)",
    r"Barrier timed out|barrier[^\n]*(?:timeout|failed)|The following (?:tasks|workers)[^\n]*(?:not|failed|missing)",
    r"_?(?:WorkerPreemption|PSUnavailable)Error|ps failure|parameter server[^\n]*(?:failed|unavailable|preempt)",
    r"A previous (?:collective|barrier)[^\n]*|coordination (?:service|agent)[^\n]*(?:error|unavailable|stopped|failed)",
    r"ActorDiedError|ActorUnavailableError|RayActorError|WorkerCrashedError|NodeDiedError",
)
# An elastic job's agent, and a session that was rebuilt from a checkpoint without an error of its own.
_AGENT = compiled(r"resource\.py:\d+:report_resource|dlrover|elastic_agent|torchelastic|ElasticDL")
_REBUILT = compiled(r"Restoring parameters from (?P<checkpoint>\S+)")


@rule(tier=Tier.ROOT)
def peer_lost(run: Run) -> Answer:
    """Another process of the same training died, hung or was removed, and this one failed because of it.

    What happened
        In a training with several processes each waits for the others. When one is gone, the rest fail with
        network errors: connection reset, socket closed, a missed heartbeat. The error in this log is only the
        consequence; the cause is in the other process's log.

    How laststep knows
        The runtime's own message about the peer; where it names the task or the address, so does the answer.
        Whether the peer died or only hung is not known from this process: both give the same message.

    What to do
        Read the log of the process that is named, just before this error. It was often killed for memory or by
        a time limit. Run each rank under laststep: then each gets its own diagnosis.

    Not to be confused with
        data-source-unreachable (a server that is not part of the training), waiting-for-rank (all are alive and
        one does not arrive).
    """
    found = list(find_messages(run, *MESSAGES))
    if not found:
        return _rebuilt(run)
    best = max(found, key=lambda each: (bool(each.get("task")), bool(each.get("address") or each.get("rank"))))
    who = _who(best)
    return answer(
        run,
        best,
        "",
        cause=f"Another process of this training{f' ({who})' if who else ''} was lost; this error is its consequence.",
        remedies=(
            Remedy(f"Read the log of {who or 'the other processes'} just before this error: the cause is there"),
            Remedy("Record each process", "laststep run python train.py  # in each of them", safe=True),
        ),
        confidence=Confidence.CERTAIN if best.get("task") else Confidence.LIKELY,
    )


def _who(message: Message) -> str:
    if message.get("task"):
        return f"{message['job']} {message['task']}"
    text = message.found.string
    task = re.search(_TASK, text)
    if message.get("rank"):
        return f"rank {message['rank']}"
    if message.get("address"):
        return f"the process at {message['address']}"
    return f"{task['job']} {task['task']}" if task else ""


def _rebuilt(run: Run) -> Answer:
    """An elastic job's session restored during the run: its agent does that, silently, when a process is gone."""
    agent, rebuilt = find_message(run, *_AGENT), find_message(run, *_REBUILT)
    if agent is None or rebuilt is None or run.uncaught is not None:
        return answer(run, None, "no message says that another process is gone")
    return answer(
        run,
        rebuilt,
        "",
        cause="An elastic job rebuilt its session from a checkpoint, as it does when another process is lost.",
        remedies=(Remedy("Read the log of the job's master: this log does not say which process it was"),),
        more=(Evidence(f"the log comes from an elastic job's agent: {agent.evidence.says}"),),
        confidence=Confidence.POSSIBLE,
    )
