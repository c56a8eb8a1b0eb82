"""disk-stalled on made-up runs."""

from __future__ import annotations

from tests.rules.stalled.runs import found
from tests.supervisor.stuck import IN_STEP, SNAPSHOTS, main, snapshot, stuck_run


def test_a_thread_of_tensorflow_in_the_disk() -> None:
    native = [{"name": "tf_data", "state": "D", "call": "read", "on": "/mnt/nfs/shard-7"}]
    finding = found(stuck_run(snapshot(main(*IN_STEP), waiting=29.0, native=native)))["disk-stalled"]
    assert finding.cause == "The program waits for a file system that does not respond: /mnt/nfs/shard-7."
    assert finding.remedies[0].does == "Check whether the file system responds: ls /mnt/nfs/shard-7"
    assert "tasks on this machine waited for I/O 1% of the time" in [item.says for item in finding.evidence]


def test_a_disk_that_still_delivers_is_not_stalled() -> None:
    data = SNAPSHOTS["disk-stalled"] | {"io": 5_000_000}
    assert "disk-stalled" not in found(stuck_run(data))
