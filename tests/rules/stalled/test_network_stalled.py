"""network-stalled on made-up runs."""

from __future__ import annotations

import copy

import pytest

from laststep.rules.diagnose import diagnose
from tests.rules.stalled.runs import found, healthy_rules
from tests.supervisor.stuck import LOAD, SCRIPT_OPS, SNAPSHOTS, TRAIN, main, snapshot, stuck_run


@pytest.mark.parametrize("cause", ["input-blocked", "callback-blocked", "python-blocked"])
def test_the_network_is_the_root_where_the_peer_is_known(cause: str) -> None:
    answer = copy.deepcopy(SNAPSHOTS[cause])
    answer["threads"][-1] |= {"call": "recv", "on": "socket 10.1.2.3:443"}
    if cause == "input-blocked":
        answer["threads"][-1]["frames"] = [LOAD, SCRIPT_OPS]
    diagnosis = healthy_rules(diagnose(stuck_run(answer)))
    assert [finding.rule for finding in diagnosis.findings] == ["network-stalled", cause]
    assert "10.1.2.3:443" in diagnosis.findings[0].cause


@pytest.mark.parametrize("on", ["a socket of its own", "socket", "pipe", "/data/fifo", ""])
def test_what_is_no_peer_is_no_network(on: str) -> None:
    answer = snapshot(main(TRAIN, call="recv", on=on), phase="loop")
    assert list(found(stuck_run(answer))) == ["python-blocked"]
