"""The stalled rules on made-up runs: each answers for its own snapshot alone."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import pytest

from laststep.analysis.finding import Confidence, Diagnosis, Finding
from laststep.analysis.stall import cause_of, stall_of
from laststep.record.event import Event
from laststep.record.events.stacks import Stall
from laststep.record.run import Run
from laststep.record.sample import Sample, decode_sample
from laststep.record.steps import Step
from laststep.rules.diagnose import diagnose
from laststep.rules.rule import all_rules
from tests.supervisor.stuck import (
    EXECUTE,
    FIT,
    HOOK,
    IN_STEP,
    LIB,
    LOAD,
    NAN,
    ONE_OF_THEM,
    RANKS,
    SCRIPT_OPS,
    SNAPSHOTS,
    TRACING,
    TRAIN,
    WAIT,
    WORK,
    event,
    frame,
    main,
    run_of,
    snapshot,
    snapshot_view,
    steps,
    stuck_run,
    thread,
)

STALLED = [rule for rule in all_rules().values() if rule.symptom == "stalled"]


def found(run: Run) -> dict[str, Finding]:
    return {finding.rule: finding for finding in healthy_rules(diagnose(run)).findings if finding.symptom == "stalled"}


def healthy_rules(diagnosis: Diagnosis) -> Diagnosis:
    failed = [(item.rule, item.because) for item in diagnosis.unchecked if "rule itself failed" in item.because]
    assert failed == []
    return diagnosis


def test_the_rules_of_this_symptom_are_known() -> None:
    names = {rule.name for rule in STALLED}
    assert set(ONE_OF_THEM) < names
    assert names - set(ONE_OF_THEM) == {
        *("network-stalled", "graph-compiling", "shuffle-buffer-filling", "input-starved", "retracing"),
        *("threads-oversubscribed", "gpu-unused", "straggling-rank", "machine-overloaded"),
    }


@pytest.mark.parametrize("cause", SNAPSHOTS)
def test_each_answers_for_its_own_snapshot_alone(cause: str) -> None:
    run = run_of(cause)
    assert cause_of(snapshot_view(SNAPSHOTS[cause]), run) == cause
    assert list(found(run)) == [cause]
    diagnosis = diagnose(run)
    assert diagnosis.outcome == "stalled"
    assert diagnosis.findings[0].rule == cause


@pytest.mark.parametrize("cause", SNAPSHOTS)
def test_each_says_how_long_against_what_was_normal_and_how_far_it_came(cause: str) -> None:
    finding = found(run_of(cause))[cause]
    said = " | ".join(evidence.says for evidence in finding.evidence)
    assert finding.confidence in (Confidence.LIKELY, Confidence.POSSIBLE)
    assert "no progress for 30 s" in finding.evidence[0].says
    assert "the longest before was 0.50 s" in said
    assert "40 steps were complete" in said
    assert finding.remedies
    assert finding.where is not None
    assert isinstance(finding.evidence[0].events[0], Stall)


@pytest.mark.parametrize(
    "cause,line",
    [
        ("input-blocked", "load.py:12"),
        ("callback-blocked", "upload.py:7"),
        ("python-blocked", "train.py:9"),
        ("deadlocked", "work.py:33"),
    ],
)
def test_the_line_to_look_at_is_named(cause: str, line: str) -> None:
    assert line in found(run_of(cause))[cause].cause


@pytest.mark.parametrize("cause", SNAPSHOTS)
def test_a_run_that_goes_on_again_is_not_stuck(cause: str) -> None:
    again = event(150.0, "moving-again", after=42.0, phase="step")
    diagnosis = healthy_rules(diagnose(run_of(cause, again)))
    assert [finding for finding in diagnosis.findings if finding.symptom == "stalled"] == []
    assert diagnosis.outcome == "running"
    ruled_out = {item.rule: item.because for item in diagnosis.ruled_out}
    assert cause in ruled_out
    if cause != "memory-thrashing":
        assert ruled_out[cause] == "one process trains alone" or "42 s once, then went on by itself" in ruled_out[cause]


def test_a_step_after_the_stall_takes_it_back() -> None:
    later = [step._replace(time=200.0) for step in steps()]
    assert found(run_of("python-blocked", steps=later)) == {}


@pytest.mark.parametrize("cause", SNAPSHOTS)
def test_stuck_again_after_it_had_moved(cause: str) -> None:
    moved = event(130.0, "moving-again", after=3.0)
    assert list(found(run_of(cause, moved))) == [cause]


@pytest.mark.parametrize("cause", SNAPSHOTS)
def test_a_snapshot_alone_is_no_stall(cause: str) -> None:
    assert set(found(run_of(cause, kind="look"))) & set(ONE_OF_THEM) == set()


@pytest.mark.parametrize("cause", SNAPSHOTS)
def test_it_outranks_the_way_in_which_it_was_ended(cause: str) -> None:
    """Somebody pressed Ctrl-C because it was stuck: that is not why it ended."""
    said = event(150.0, "signal", signal="SIGTERM", by="process", sender={"pid": 5, "name": "bash"})
    end = event(151.0, "end", signal="SIGTERM", code=None, pid=77, seconds=52.0)
    diagnosis = healthy_rules(diagnose(run_of(cause, said, end, alive=False)))
    assert diagnosis.findings[0].rule == cause
    assert diagnosis.outcome == "stopped"


def test_without_a_stall_nothing_is_said() -> None:
    events = (event(99.0, "run", command=["python"]), event(99.1, "recorder", pid=77))
    assert found(Run(id="r", events=events, steps=steps(), alive=True)) == {}


ALL_SIGNS = snapshot(
    main(TRAIN, HOOK, EXECUTE, FIT, TRAIN, call="futex"),
    thread(WORK, call="futex"),
    native=[{"name": "tf_data", "state": "D", "call": "read", "on": "/mnt/nfs/x"}],
    pressure={"memory": 80.0},
    waiting=29.0,
)


def test_the_first_sign_wins() -> None:
    """From the machine inwards: memory, disk, each other, the ranks, a callback, the data, the program's own code."""
    told, run = copy.deepcopy(ALL_SIGNS), stuck_run(snapshot())
    ranks = stuck_run(snapshot(), event(99.1, "setup", **RANKS))
    assert cause_of(snapshot_view(told), ranks) == "memory-thrashing"
    told["pressure"] = {"memory": 5.0}
    assert cause_of(snapshot_view(told), ranks) == "disk-stalled"
    told["native"] = []
    told["waiting"] = 0.0
    assert cause_of(snapshot_view(told), ranks) == "deadlocked"
    told["threads"][1]["call"] = "sleep"
    assert cause_of(snapshot_view(told), ranks) == "waiting-for-rank"
    assert cause_of(snapshot_view(told), run) == "callback-blocked"
    told["threads"][0]["frames"].pop(1)
    told["waiting"] = 29.0
    assert cause_of(snapshot_view(told), run) == "input-blocked"
    assert cause_of(snapshot_view(told), ranks) == "input-blocked", "who waits for its own data waits for no rank"
    told["waiting"] = 0.0
    told["threads"][0]["frames"] = [TRAIN]
    told["threads"][0]["call"] = ""
    assert cause_of(snapshot_view(told), run) == "python-blocked"
    told["threads"] = []
    assert cause_of(snapshot_view(told), run) == ""


def test_a_step_that_computes_is_nobodys() -> None:
    told = snapshot(main(*IN_STEP), cpu=1.5)
    assert cause_of(snapshot_view(told), stuck_run(told)) == ""
    assert found(stuck_run(told)) == {}


def test_one_that_still_runs_is_no_deadlock() -> None:
    told = snapshot(main(TRAIN, call="futex"), thread(WORK, call="futex"), thread(LOAD, call="sleep"), phase="loop")
    assert list(found(stuck_run(told))) == ["python-blocked"]


@pytest.mark.parametrize("waits", [[frame(f"{LIB}/threading.py", "join")], [WAIT, frame(f"{LIB}/queue.py", "join")]])
def test_alone_and_nobody_is_left_to_release_it(waits: list[dict[str, Any]]) -> None:
    finding = found(stuck_run(snapshot(main(*waits, TRAIN), phase="loop")))["deadlocked"]
    assert "no other thread is running that could release it" in finding.cause


def test_an_event_alone_is_no_deadlock() -> None:
    """A signal handler or a child may set it."""
    assert list(found(stuck_run(snapshot(main(WAIT, TRAIN), phase="loop")))) == ["python-blocked"]


def test_a_forked_child_that_waits_for_a_lock() -> None:
    child = {"pid": 88, "name": "python", "cpu": 0.0, "threads": [thread(WORK, call="futex", current=True)]}
    pool = frame(f"{LIB}/multiprocessing/pool.py", "get")
    finding = found(stuck_run(snapshot(main(WAIT, pool, TRAIN), phase="loop", children=[child])))["deadlocked"]
    assert "child" in finding.cause
    assert "spawn" in str(finding.remedies[0].change)
    busy = {**child, "cpu": 0.9}
    assert "child" not in found(stuck_run(snapshot(main(WAIT, pool, TRAIN), children=[busy])))["deadlocked"].cause


@pytest.mark.parametrize("cause", ["input-blocked", "callback-blocked", "python-blocked"])
def test_the_network_is_the_root_where_the_peer_is_known(cause: str) -> None:
    told = copy.deepcopy(SNAPSHOTS[cause])
    told["threads"][-1] |= {"call": "recv", "on": "socket 10.1.2.3:443"}
    if cause == "input-blocked":
        told["threads"][-1]["frames"] = [LOAD, SCRIPT_OPS]
    diagnosis = healthy_rules(diagnose(stuck_run(told)))
    assert [finding.rule for finding in diagnosis.findings] == ["network-stalled", cause]
    assert "10.1.2.3:443" in diagnosis.findings[0].cause


@pytest.mark.parametrize("on", ["a socket of its own", "socket", "pipe", "/data/fifo", ""])
def test_what_is_no_peer_is_no_network(on: str) -> None:
    told = snapshot(main(TRAIN, call="recv", on=on), phase="loop")
    assert list(found(stuck_run(told))) == ["python-blocked"]


def test_the_rank_that_is_missing_is_named() -> None:
    peers = [
        {"rank": 0, "pid": 5, "threads": [main(*IN_STEP)]},
        {"rank": 1, "pid": 6, "threads": [main(frame("/home/me/train.py", "load", 9), TRAIN)]},
    ]
    told = snapshot(main(*IN_STEP), peers=peers)
    finding = found(stuck_run(told, event(99.1, "setup", **RANKS)))["waiting-for-rank"]
    assert "rank 1" in finding.cause
    assert "train.py:9" in finding.cause
    assert finding.confidence is Confidence.LIKELY
    alone = found(run_of("waiting-for-rank"))["waiting-for-rank"]
    assert alone.confidence is Confidence.POSSIBLE


def test_c_code_that_holds_the_interpreter_is_said() -> None:
    told = snapshot(main(TRAIN), phase="loop", cpu=1.0, beat_age=29.0)
    finding = found(stuck_run(told))["python-blocked"]
    assert "holds the GIL" in finding.cause
    assert any("C code holds the GIL" in evidence.says for evidence in finding.evidence)
    waits = found(stuck_run(snapshot(main(TRAIN), phase="loop", cpu=0.0, beat_age=29.0)))["python-blocked"]
    assert "is waiting" in waits.cause


def test_a_thread_that_died_before_is_told() -> None:
    died = event(120.0, "exception", left="thread", type="ValueError", message="bad row", where=LOAD)
    finding = found(run_of("input-blocked", died))["input-blocked"]
    assert any("ValueError: bad row" in evidence.says for evidence in finding.evidence)


def test_a_file_that_tensorflow_itself_is_blocked_in() -> None:
    native = [{"name": "tf_data", "state": "S", "call": "open", "on": "/data/fifo"}]
    finding = found(stuck_run(snapshot(main(*IN_STEP), waiting=29.0, native=native)))["input-blocked"]
    assert "opening /data/fifo" in finding.cause


def test_a_filter_that_lets_nothing_through() -> None:
    finding = found(stuck_run(snapshot(main(*IN_STEP), waiting=29.0, cpu=1.0)))["input-blocked"]
    assert "is busy, but delivers nothing" in finding.cause


# Slow, not stuck


def test_tracing_is_slow_and_not_stuck() -> None:
    told = snapshot(main(TRACING, FIT, TRAIN), phase="first step", cpu=1.0, step=0)
    run = stuck_run(told, kind="look", steps=[])
    assert list(found(run)) == ["graph-compiling"]
    assert diagnose(run).outcome == "running"
    assert found(stuck_run(told, event(150.0, "moving-again"), kind="look", steps=[])) == {}


def test_compiling_is_the_first_step_that_computes() -> None:
    first = snapshot(main(*IN_STEP), phase="first step", cpu=1.0)
    assert list(found(stuck_run(first, kind="look", steps=[]))) == ["graph-compiling"]
    waits = snapshot(main(*IN_STEP), phase="first step", cpu=1.0, waiting=29.0)
    assert found(stuck_run(waits, kind="look", steps=[])) == {}
    later = snapshot(main(*IN_STEP), phase="step", cpu=1.0)
    assert found(stuck_run(later, kind="look", steps=[])) == {}


def test_a_step_that_xla_compiles_is_likely_and_can_do_without() -> None:
    first = snapshot(main(*IN_STEP), phase="first step", cpu=1.0)
    jit = event(99.3, "fit", id=2, epochs=3, where=TRAIN, jit_compile=True)
    finding = found(stuck_run(first, jit, kind="look", steps=[]))["graph-compiling"]
    assert "is compiling the step" in finding.cause
    assert finding.confidence is Confidence.LIKELY
    assert [remedy.change for remedy in finding.remedies] == [None, "jit_compile=False"]
    plain = found(stuck_run(first, kind="look", steps=[]))["graph-compiling"]
    assert plain.confidence is Confidence.POSSIBLE
    assert [remedy.change for remedy in plain.remedies] == [None]


def test_a_step_after_the_snapshot_takes_it_back() -> None:
    told = snapshot(main(TRACING, FIT, TRAIN), phase="trace", cpu=1.0)
    later = [step._replace(time=200.0) for step in steps(1)]
    assert found(stuck_run(told, kind="look", steps=later)) == {}


def shuffled(size: int = 100_000) -> Event:
    stages = [{"stage": "Batch"}, {"stage": "Shuffle", "buffer_size": size}]
    return event(99.3, "fit", id=2, epochs=3, where=TRAIN, data={"stages": stages})


def test_a_shuffle_buffer_that_fills() -> None:
    told = snapshot(main(*IN_STEP), phase="first step", cpu=1.0, waiting=29.0, io=10**7)
    finding = found(stuck_run(told, shuffled(), kind="look", steps=[]))["shuffle-buffer-filling"]
    assert "100,000" in finding.cause
    assert finding.confidence is Confidence.LIKELY
    console = "Filling up shuffle buffer (this may take a while): 25000 of 100000\n"
    told_by_tf = stuck_run(told, shuffled(), kind="look", steps=[], console=console)
    finding = found(told_by_tf)["shuffle-buffer-filling"]
    assert finding.confidence is Confidence.CERTAIN
    assert "about 90 s left" in finding.evidence[0].says
    idle = snapshot(main(*IN_STEP), phase="first step", waiting=29.0)
    assert "shuffle-buffer-filling" not in found(stuck_run(idle, shuffled(), kind="look", steps=[]))
    assert "shuffle-buffer-filling" not in found(stuck_run(told | {"phase": "step"}, shuffled(), kind="look"))


# Slow all the while: from the samples


def beats(share: float, seconds: int = 40, each: float = 0.1, phase: str = "step") -> list[dict[str, Any]]:
    """Samples as the watcher writes them: one a second, of which `share` is spent waiting."""
    made = []
    for second in range(seconds):
        inside = {"phase": phase, "time": 100.0 + second, "step": 1 + int(second / each)}
        made.append({"t": 100.0 + second, "inside": inside | {"waited": share * second, "waiting": 0.0}})
    return made


def sampled(fields: list[dict[str, Any]]) -> list[Sample]:
    return [decode_sample(each) for each in fields]


def training(samples: list[dict[str, Any]], *more: Event) -> Run:
    began = [event(99.0, "run", command=["python"], environment={}), event(99.1, "recorder", pid=77)]
    fit = event(99.2, "fit", id=1, epochs=3, where=TRAIN, data={"stages": [{"stage": "Map", "python": True,
                "function": "load", "where": LOAD, "called_at": TRAIN}]})  # fmt: skip
    events = sorted([*began, fit, *more], key=lambda e: e.time)
    return Run(id="r", events=tuple(events), steps=steps(), samples=sampled(samples), alive=True)


def test_steps_that_wait_for_data() -> None:
    finding = found(training(beats(0.8)))["input-starved"]
    assert "80%" in finding.cause
    assert "runs load for each sample" in finding.cause
    assert "num_parallel_calls" in str(finding.remedies[0].change)
    fed = event(120.0, "feeding", looks=10, lines=[{"file": LOAD["file"], "line": 12, "text": "x", "looks": 9}])
    assert "load.py:12" in found(training(beats(0.8), fed))["input-starved"].cause


@pytest.mark.parametrize(
    "samples",
    [
        beats(0.1),  # a small share
        beats(0.8, each=0.001),  # a short wait in each step
        beats(0.8, seconds=6),  # too few to tell
        beats(0.8, phase="validation"),
        [],
    ],
)
def test_steps_that_do_not_wait_much(samples: list[dict[str, Any]]) -> None:
    assert found(training(samples)) == {}


def test_waiting_in_the_first_half_alone_is_a_cache_that_fills() -> None:
    samples = beats(0.0, seconds=60)
    for number, sample in enumerate(samples):
        sample["inside"]["waited"] = min(number, 25) * 0.9
    assert "input-starved" not in found(training(samples))


def traces(count: int, changed: list[list[str]], seconds: float = 1.0) -> list[Event]:
    function = {"file": "/home/me/train.py", "line": 50}
    return [
        event(101.0 + i, "trace", name="train_step", function=function, number=i + 1, seconds=seconds, where=TRAIN,
              changed=changed if i else [], step=i)
        for i in range(count)
    ]  # fmt: skip


def test_a_python_number_that_makes_a_new_graph_each_time() -> None:
    changed = [["rate", "Literal[0.1]", "Literal[0.2]"]]
    finding = found(training([], *traces(9, changed)))["retracing"]
    assert "train_step was traced 9 times (8.0 s lost)" in finding.cause
    assert "its argument rate is the Python value 0.1" in finding.cause
    assert finding.remedies[0].change == "rate = tf.constant(rate)"


def test_shapes_and_functions_created_anew() -> None:
    shape = "TensorSpec(shape=({}, 8), dtype=tf.float32, name=None)"
    finding = found(training([], *traces(9, [["x", shape.format(3), shape.format(4)]])))["retracing"]
    assert "a tensor of shape (3, 8), float32" in finding.cause
    assert "reduce_retracing" in str(finding.remedies[0].change)
    assert "created anew" in found(training([], *traces(9, [])))["retracing"].cause


@pytest.mark.parametrize("count,seconds", [(4, 1.0), (9, 0.01)])
def test_a_few_traces_or_quick_ones_are_normal(count: int, seconds: float) -> None:
    assert "retracing" not in found(training([], *traces(count, [], seconds)))


def test_more_threads_than_cores() -> None:
    queue = [{"t": 100.0 + i, "queue": [float(i), 2.0 * i]} for i in range(20)]
    made = [event(99.1, "limits", cores=2.0), event(99.3, "setup", intra=64, inter=0)]
    assert "64 intra-op threads" in found(training(queue, *made))["threads-oversubscribed"].cause
    calm = [{"t": 100.0 + i, "queue": [float(i), 0.1 * i]} for i in range(20)]
    assert found(training(calm, *made)) == {}
    assert found(training(queue, made[0], event(99.3, "setup", intra=2, inter=2))) == {}


def queued(ran: float, waited: float, used: float, count: int = 8, **more: Any) -> list[dict[str, Any]]:
    """A sample every five seconds: processor seconds and waiting in each, cores in use by others."""
    top = [{"pid": 4242, "name": "render", "cores": 1.2}]
    others = {"of": 2, "used": used, "top": top if used > 0.6 else []} | more
    return [{"t": 100.0 + 5 * i, "queue": [ran * i, waited * i], "others": others} for i in range(count)]


def test_others_use_the_cores() -> None:
    finding = found(training(queued(1.0, 4.0, 1.9)))["machine-overloaded"]
    said = " | ".join(evidence.says for evidence in finding.evidence)
    assert "20% of the CPU time" in finding.cause
    assert "1.9 of 2 cores" in said
    assert "render (pid 4242, 1.2)" in said
    assert finding.remedies[1].change == "renice -n 10 -p 4242"


def test_others_that_cannot_be_seen_are_not_named() -> None:
    finding = found(training(queued(1.0, 4.0, 1.9, top=[])))["machine-overloaded"]
    assert "not visible from here" in " ".join(evidence.says for evidence in finding.evidence)
    assert finding.remedies[1].change is None


@pytest.mark.parametrize(
    "samples",
    [
        queued(1.0, 4.0, 0.1),  # its own threads or workers use the cores
        queued(4.0, 1.0, 1.9),  # others do, and it gets what it wants all the same
        queued(0.01, 0.04, 1.9),  # it wants next to nothing
        queued(1.0, 4.0, 1.9, count=3),  # a short run
        [*queued(1.0, 4.0, 1.9, count=4), *[s | {"t": s["t"] + 20} for s in queued(4.0, 0.0, 0.0, count=30)]],
        [sample | {"others": None} for sample in queued(1.0, 4.0, 1.9)],
        [sample | {"queue": [1.0]} for sample in queued(1.0, 4.0, 1.9)],
        [sample | {"others": {"of": "2", "used": [], "top": 3}} for sample in queued(1.0, 4.0, 1.9)],
    ],
)
def test_the_machine_is_not_to_blame(samples: list[dict[str, Any]]) -> None:
    assert "machine-overloaded" not in found(training(samples))


def test_steps_got_slower_while_others_used_the_cores() -> None:
    calm = queued(4.0, 0.0, 0.0, count=4)
    later = [
        sample | {"t": sample["t"] + 20, "queue": [16.0 + sample["queue"][0], sample["queue"][1]]}
        for sample in queued(1.0, 4.0, 1.9)
    ]
    quick = [Step(i + 1, 100 + i, 0.1, NAN, 1.0, NAN, 0, i, 1) for i in range(20)]
    slow = [Step(i + 21, 121 + i, 0.5, NAN, 1.0, NAN, 0, i, 1) for i in range(30)]
    run = dataclasses.replace(training([*calm, *later]), steps=[*quick, *slow])
    said = [evidence.says for evidence in found(run)["machine-overloaded"].evidence]
    assert "a step took 5.0 times as long as in the rest of the run" in said


def test_a_stall_on_a_busy_machine_is_the_machines() -> None:
    """Only where a number of seconds was asked for: otherwise it is given more time."""
    starved = SNAPSHOTS["python-blocked"] | {"lost": 28.0, "cpu": 0.04}
    assert list(found(stuck_run(starved, samples=sampled(queued(0.2, 4.8, 1.9))))) == ["machine-overloaded"]
    assert list(found(stuck_run(starved))) == ["python-blocked"], "others are not known to use the cores"
    asleep = SNAPSHOTS["python-blocked"] | {"lost": 1.0}
    assert "python-blocked" in found(stuck_run(asleep, samples=sampled(queued(0.2, 4.8, 1.9))))


def test_memory_that_is_full_all_the_while() -> None:
    def full(i: int, faults: float, used: float = 0.99) -> dict[str, Any]:
        group = {"used": used * 10**9, "limit": 10**9}
        return {"t": 100.0 + 5 * i, "group": group, "faults": int(i * faults), "pressure": {"memory": 30.0}}

    assert list(found(training([full(i, 500) for i in range(9)]))) == ["memory-thrashing"]
    assert found(training([full(i, 0) for i in range(9)])) == {}
    assert found(training([full(i, 500, used=0.5) for i in range(9)])) == {}
    assert found(training([full(i, 500) for i in range(3)])) == {}


def test_a_gpu_that_stays_idle() -> None:
    def cards(busy: int, used: int = 10**8) -> list[dict[str, Any]]:
        return [{"t": 100.0 + i, "gpus": [{"busy": busy, "used": used, "total": 10**11}]} for i in range(40)]

    limits = event(99.1, "limits", gpus=[{"used": 10**8, "total": 10**11}])
    setup = event(99.3, "setup", gpus=0)
    assert "gpu-unused" in found(training(cards(0), limits, setup))
    assert "gpu-unused" not in found(training(cards(60), limits, setup))
    assert "gpu-unused" not in found(training(cards(0, 10**10), limits, setup))
    assert "gpu-unused" not in found(training(cards(0), limits, event(99.3, "setup", gpus=1)))
    assert "gpu-unused" not in found(training(cards(0)))


DLOPEN = (
    "2024-03-04 05:06:07.123456: W tensorflow/core/common_runtime/gpu/gpu_device.cc:2256] Cannot dlopen some GPU "
    "libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use "
    "GPU.\nSkipping registering GPU devices...\n"
)
NO_CUDNN = (
    "2024-03-04 05:06:07.123400: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load "
    "dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file: No such file\n"
)


@pytest.mark.parametrize(
    ("printed", "cause", "cure"),
    [
        (NO_CUDNN + DLOPEN, "could not load the CUDA libraries that it needs (libcudnn.so.8)", "and-cuda"),
        ("E x.cc:1] kernel version 550.54.14 does not match DSO version 570.86.15\n", "different versions", "Reboot"),
        ("I x.cc:1] Could not find cuda drivers on your machine\n", "cannot reach the driver", "--gpus all"),
        ("", "idle: training runs on the CPU", "pip install"),
    ],
)
def test_why_a_gpu_stays_idle_is_named(printed: str, cause: str, cure: str) -> None:
    samples = [{"t": 100.0 + i, "gpus": [{"busy": 0, "used": 1, "total": 9}]} for i in range(40)]
    limits = event(99.1, "limits", gpus=[{"used": 1, "total": 9}])
    versions = event(99.2, "versions", tensorflow="2.21.0")
    run = dataclasses.replace(training(samples, limits, versions), console=printed)
    finding = found(run)["gpu-unused"]
    assert cause in finding.cause
    assert cure in f"{finding.remedies[0].does} {finding.remedies[0].change}"
    assert "gpu-unused" not in found(dataclasses.replace(training(samples), console=printed)), "no GPU is here"


def test_stall_of_takes_the_last() -> None:
    first, last = event(120.0, "stall", seconds=1), event(130.0, "stall", seconds=2)
    assert stall_of(Run(id="r", events=(first, last))) == last
    assert stall_of(Run(id="r", events=())) is None


LINE = {"file": "/home/me/train.py", "line": 44, "text": "draw(w)", "looks": 9}


def pace(*at_work: int, snapshots: int = 20, time: float = 139.0) -> Event:
    ranks = [{"rank": i, "pid": 50 + i, "at_work": n, "lines": [LINE] if n else []} for i, n in enumerate(at_work)]
    return event(time, "pace", looks=snapshots, ranks=ranks)


def paced(*events: Event) -> Run:
    return stuck_run({}, event(99.1, "setup", **RANKS), *events, kind="look")


def test_a_rank_that_the_others_wait_for_is_named_with_its_line() -> None:
    finding = found(paced(pace(0, 14)))["straggling-rank"]
    assert "Rank 1" in finding.cause
    assert finding.where is not None
    assert finding.where.line == 44
    assert "in 14 of 20 snapshots" in finding.evidence[0].says


def test_the_newest_pace_counts() -> None:
    assert "straggling-rank" not in found(paced(pace(0, 14, time=110.0), pace(3, 4)))


@pytest.mark.parametrize("at_work", [(15, 17), (6, 13), (0, 9), (0, 0), (14,), ()])
def test_ranks_that_are_alike_or_hardly_ever_at_work_do_not_straggle(at_work: tuple[int, ...]) -> None:
    assert "straggling-rank" not in found(paced(pace(*at_work)))


def test_one_process_alone_or_ranks_elsewhere() -> None:
    assert "straggling-rank" not in found(stuck_run({}, pace(0, 14), kind="look"))
    unchecked = {item.rule: item.because for item in diagnose(paced()).unchecked}
    assert "elsewhere" in unchecked["straggling-rank"]
