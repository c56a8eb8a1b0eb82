"""How it ended, in the words of shells, batch systems, container engines, IDEs, Windows and the kernel."""

from __future__ import annotations

import pytest

from laststep.record.events.supervisor import Verdict
from tests.logs.printed import ONE_FIT, OPEN_EPOCH, TRACEBACK, answer, bar2, cause, epochs

RULE_OF = {
    "SIGKILL": "killed-by-signal",
    "SIGSEGV": "segmentation-fault",
    "SIGABRT": "aborted",
    "SIGILL": "illegal-instruction",
    "SIGBUS": "bus-error",
    "SIGTERM": "terminated",
    "SIGINT": "interrupted",
    "SIGHUP": "killed-by-signal",
    "SIGXCPU": "time-limit-reached",
}

SHELLS = {
    # bash, dash
    "Killed": "SIGKILL",
    "./job.sh: line 12: 24905 Killed                  python train.py --rate 0.1": "SIGKILL",
    "/var/spool/job8812/slurm_script: line 9:   911 Segmentation fault      (core dumped) python t.py": "SIGSEGV",
    "[1]+  Killed                  python train.py": "SIGKILL",
    "[2]-  24905 Terminated              python train.py": "SIGTERM",
    "Terminated": "SIGTERM",
    "Segmentation fault (core dumped)": "SIGSEGV",
    "Segmentation fault": "SIGSEGV",
    "Aborted (core dumped)": "SIGABRT",
    "Illegal instruction (core dumped)": "SIGILL",
    "Bus error (core dumped)": "SIGBUS",
    "Hangup": "SIGHUP",
    "CPU time limit exceeded (core dumped)": "SIGXCPU",
    "^C": "SIGINT",
    # other languages
    "Getötet": "SIGKILL",
    "Speicherzugriffsfehler (Speicherabzug geschrieben)": "SIGSEGV",
    "Abgebrochen (Speicherabzug geschrieben)": "SIGABRT",
    "Ungültiger Maschinenbefehl (Speicherabzug geschrieben)": "SIGILL",
    "Erreur de segmentation (core dumped)": "SIGSEGV",
    "Abandon (core dumped)": "SIGABRT",
    "Violación de segmento (`core' generado)": "SIGSEGV",
    "Falha de segmentação (imagem do núcleo gravada)": "SIGSEGV",
    "Errore di segmentazione (core dump creato)": "SIGSEGV",
    "Убито": "SIGKILL",
    "Ошибка сегментирования (образ памяти сброшен на диск)": "SIGSEGV",
    "已杀死": "SIGKILL",
    "段错误 (核心已转储)": "SIGSEGV",
    "已放弃 (核心已转储)": "SIGABRT",
    "세그멘테이션 오류": "SIGSEGV",
    "セグメンテーション違反です (コアダンプ)": "SIGSEGV",
    "./lauf.sh: Zeile 12: 24905 Getötet                 python train.py": "SIGKILL",
    "./lauf.sh: Zeile 12: 24905 Beendet                 python train.py": "SIGTERM",
    "./go.sh: línea 4: 24905 Terminado (killed)      python train.py": "SIGKILL",
    "./go.sh: linha 4: 24905 Morto                   python train.py": "SIGKILL",
    "./run.sh: 行 12: 24905 已杀死               python train.py": "SIGKILL",
    # zsh
    "zsh: killed     python train.py": "SIGKILL",
    "zsh: segmentation fault (core dumped)  python train.py": "SIGSEGV",
    "zsh: abort      python train.py": "SIGABRT",
    "zsh: illegal hardware instruction  python train.py": "SIGILL",
    "zsh: bus error  python train.py": "SIGBUS",
    "zsh: terminated  python train.py": "SIGTERM",
    "[1]    24905 killed     python train.py": "SIGKILL",
    "[1]  + 24905 segmentation fault  python train.py": "SIGSEGV",
    # fish
    "fish: Job 1, 'python train.py' terminated by signal SIGKILL (Forced quit)": "SIGKILL",
    "fish: Job 1, 'python train.py' terminated by signal SIGSEGV (Address boundary error)": "SIGSEGV",
    "fish: “python train.py” terminated by signal SIGABRT (Abort)": "SIGABRT",
    # macOS
    "Killed: 9": "SIGKILL",
    "Segmentation fault: 11": "SIGSEGV",
    "Abort trap: 6": "SIGABRT",
    "Illegal instruction: 4": "SIGILL",
    "go.sh: line 4:   911 Abort trap: 6           python train.py": "SIGABRT",
    # programs that run programs
    "Process finished with exit code 137 (interrupted by signal 9: SIGKILL)": "SIGKILL",
    "Process finished with exit code 139 (interrupted by signal 11:SIGSEGV)": "SIGSEGV",
    "Process finished with exit code 134 (interrupted by signal 6: SIGABRT)": "SIGABRT",
    "Process finished with exit code -9": "SIGKILL",
    "subprocess.CalledProcessError: Command '['python', 'train.py']' died with <Signals.SIGKILL: 9>.": "SIGKILL",
    "train-1 exited with code 139": "SIGSEGV",
    "command terminated with exit code 137": "SIGKILL",
    "command terminated with exit code 143": "SIGTERM",
    'Thread 1 "python" received signal SIGSEGV, Segmentation fault.': "SIGSEGV",
    "qemu: uncaught target signal 6 (Aborted) - core dumped": "SIGABRT",
    # native code and Python itself
    "terminate called after throwing an instance of 'std::out_of_range'": "SIGABRT",
    "Fatal Python error: Segmentation fault": "SIGSEGV",
    "Fatal Python error: Aborted": "SIGABRT",
    # Windows
    "Process finished with exit code -1073741819 (0xC0000005)": "SIGSEGV",
    "Process finished with exit code -1073741571 (0xC00000FD)": "SIGSEGV",
    "Process finished with exit code -1073740791 (0xC0000409)": "SIGABRT",
    "Process finished with exit code -1073740940 (0xC0000374)": "SIGABRT",
    "Process finished with exit code -1073741795 (0xC000001D)": "SIGILL",
    "Process finished with exit code -1073741510 (0xC000013A: interrupted by Ctrl+C)": "SIGINT",
    "The program '[912] python.exe' has exited with code 3221225477 (0xc0000005) 'Access violation'.": "SIGSEGV",
    "Windows fatal exception: access violation": "SIGSEGV",
}


@pytest.mark.parametrize(("words", "signal"), SHELLS.items(), ids=SHELLS)
def test_a_signal_in_the_words_of_a_shell(words: str, signal: str) -> None:
    diagnosis = answer(f"{OPEN_EPOCH}{words}\n")
    assert diagnosis.run.signal == signal
    assert RULE_OF[signal] in [finding.rule for finding in diagnosis.findings]
    assert diagnosis.outcome in ("stopped", "crashed")


@pytest.mark.parametrize(
    ("words", "signal"),
    [("Killed", "SIGKILL"), ("Segmentation fault (core dumped)", "SIGSEGV"), ("Getötet", "SIGKILL")],
)
def test_the_last_line_may_lack_its_newline(words: str, signal: str) -> None:
    assert cause(OPEN_EPOCH + words) == RULE_OF[signal]


@pytest.mark.parametrize(
    "words",
    [
        "./go.sh : ligne 4 : 24905 Processus arrêté      python train.py",
        "./run.sh: 第 12 行： 24905 已杀死               python train.py",
    ],
)
def test_the_line_of_a_script_in_more_languages(words: str) -> None:
    assert answer(f"{OPEN_EPOCH}{words}\n").run.signal == "SIGKILL"


def test_a_bus_error_on_macos() -> None:
    assert answer(f"{OPEN_EPOCH}Bus error: 10\n").run.signal == "SIGBUS"


NOT_AN_END = {
    "a sentence": "Killed two bugs in the reader",
    "a name": "loading Terminated.csv",
    "counted": "Killed processes: 0",
    "a helper of TensorFlow's": "W tensorflow/compiler/xla/subprocess.cc:304] SubProcess ended with return code: 0",
    "another language's word in a sentence": "Beendet wird das Training nach 9 Epochen",
    "a word of another language that is no shell's": "Beendet",
    "a state": "Estado: Terminado",
    "installing": "pip install wheels failed with error code 1",
    "an hour": "Exit Code Review at 10:30",
    "a number that is no status": "loaded 3221225 rows, 1073741 columns",
}


@pytest.mark.parametrize("words", NOT_AN_END.values(), ids=NOT_AN_END)
def test_words_that_say_nothing_about_the_end(words: str) -> None:
    diagnosis = answer(f"{words}\n{ONE_FIT}{words}\n")
    assert diagnosis.findings == ()
    assert diagnosis.outcome == "finished"


def test_a_count_of_the_killed_is_no_end() -> None:
    assert answer(f"{ONE_FIT}Killed: 0, Failed: 0\n").findings == ()


@pytest.mark.parametrize(("code", "outcome"), [(0, "finished"), (1, "stopped"), (2, "stopped")])
@pytest.mark.parametrize(
    "words", ["Process finished with exit code {}", "Exited with exit code {}.", "train-1 exited with code {}"]
)
def test_an_exit_code(words: str, code: int, outcome: str) -> None:
    diagnosis = answer(f"{OPEN_EPOCH}{words.format(code)}\n")
    assert (diagnosis.run.exit_code, diagnosis.run.signal) == (code, None)
    assert diagnosis.outcome == outcome


def test_an_exit_code_beside_a_traceback() -> None:
    diagnosis = answer(f"{OPEN_EPOCH}{TRACEBACK}\nProcess finished with exit code 1\n")
    assert diagnosis.run.exit_code == 1
    assert diagnosis.findings[0].rule == "unhandled-exception"
    assert diagnosis.outcome == "crashed"


def test_the_shells_word_says_more_than_the_exit_code_after_it() -> None:
    diagnosis = answer(f"{OPEN_EPOCH}Segmentation fault (core dumped)\nsrun: error: task 0: Exited with exit code 1\n")
    assert diagnosis.run.signal == "SIGSEGV"
    assert diagnosis.findings[0].rule == "segmentation-fault"


def test_an_end_after_which_training_goes_on_was_not_this_programs() -> None:
    log = f"{epochs(1, 3)}Killed\nchild exited with code 1\n{epochs(2, 3, first=2)}"
    diagnosis = answer(log)
    assert (diagnosis.run.signal, diagnosis.run.exit_code) == (None, None)
    assert (diagnosis.findings, diagnosis.outcome) == ((), "finished")


SLURM = "slurmstepd: error: *** JOB 8812 ON gpu07 CANCELLED AT 2025-03-04T05:06:07"
CONDOR = "(811.000.000) 2025-03-04 05:06:07"
VERDICTS = {
    "SLURM, time": (f"{SLURM} DUE TO TIME LIMIT ***", "SLURM", "time-limit-reached"),
    "SLURM, time of a step": (
        "slurmstepd: error: *** STEP 8812.0 ON gpu07 CANCELLED AT 2025-03-04T05:06:07 DUE TO TIME LIMIT ***\n"
        "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
        "SLURM",
        "time-limit-reached",
    ),
    "SLURM, cancelled": (f"{SLURM} ***", "SLURM", "terminated"),
    "SLURM, preempted": (f"{SLURM} DUE TO PREEMPTION ***", "SLURM", "terminated"),
    "SLURM, node failure": (f"{SLURM} DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***", "SLURM", "terminated"),
    "SLURM, memory": (
        "slurmstepd: error: Detected 1 oom_kill event in StepId=8812.batch. Some of the step tasks have been OOM "
        "Killed.",
        "SLURM",
        "host-out-of-memory",
    ),
    "SLURM, memory, as it was": (
        "slurmstepd: error: Detected 2 oom-kill event(s) in step 8812.batch cgroup. Some of your processes may have "
        "been killed by the cgroup out-of-memory handler.",
        "SLURM",
        "host-out-of-memory",
    ),
    "SLURM, memory, older": (
        "slurmstepd: error: Job 8812 exceeded memory limit (4194304 > 4096000), being killed",
        "SLURM",
        "host-out-of-memory",
    ),
    "SLURM, memory of a task": ("srun: error: gpu07: task 0: Out Of Memory", "SLURM", "host-out-of-memory"),
    "LSF, memory": (
        "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\nExited with exit code 137.",
        "LSF",
        "host-out-of-memory",
    ),
    "LSF, time": (
        "TERM_RUNLIMIT: job killed after reaching LSF run time limit.\nExited with exit code 140.",
        "LSF",
        "time-limit-reached",
    ),
    "LSF, processor time": (
        "TERM_CPULIMIT: job killed after reaching LSF CPU usage limit.",
        "LSF",
        "time-limit-reached",
    ),
    "LSF, by its owner": ("TERM_OWNER: job killed by owner.\nExited with exit code 143.", "LSF", "terminated"),
    "LSF, preempted": ("TERM_PREEMPT: job killed after preemption.", "LSF", "terminated"),
    "PBS, time": ("=>> PBS: job killed: walltime 3630 exceeded limit 3600", "PBS", "time-limit-reached"),
    "PBS, memory": ("=>> PBS: job killed: mem 9437184kb exceeded limit 8388608kb", "PBS", "host-out-of-memory"),
    "Torque, memory": ("=>> PBS: job killed: vmem 9437184kb exceeded limit 8388608kb", "PBS", "host-out-of-memory"),
    "Torque, deleted": ("PBS Job Id: 77.head\nJob deleted at request of anna@head", "PBS", "terminated"),
    "SGE, memory": (
        'job 4711.1 exceeds job hard limit "h_vmem" of queue "all.q@n1" (9000000.00 > limit:8000000.00) - sending '
        "SIGKILL",
        "SGE",
        "host-out-of-memory",
    ),
    "SGE, time": ("error: job 4711 exceeded wallclock limit", "SGE", "time-limit-reached"),
    "HTCondor, memory": (
        f"012 {CONDOR} Job was held.\n\tJob has gone over memory limit of 2048 megabytes. Peak usage: 2100 megabytes.",
        "HTCondor",
        "host-out-of-memory",
    ),
    "HTCondor, removed": (
        f"009 {CONDOR} Job was aborted by the user.\n\tvia condor_rm (by user anna)",
        "HTCondor",
        "terminated",
    ),
    "Kubernetes, in one line": (
        "Last State: Terminated, Reason: OOMKilled, Exit Code: 137",
        "Kubernetes",
        "host-out-of-memory",
    ),
    "Kubernetes, evicted": (
        "Reason:         Evicted\nMessage:        The node was low on resource: memory. Container main was using 11Gi, "
        "request is 0.",
        "Kubernetes",
        "host-out-of-memory",
    ),
    "Kubernetes, a job's deadline": (
        "  Warning  DeadlineExceeded  3s  job-controller  Job was active longer than specified deadline",
        "Kubernetes",
        "time-limit-reached",
    ),
    "YARN, memory": (
        "Container [pid=4411,containerID=container_e01_1] is running beyond physical memory limits. Current usage: "
        "4.1 GB of 4 GB physical memory used. Killing container.",
        "YARN",
        "host-out-of-memory",
    ),
    "YARN, on request": (
        "Container killed on request. Exit code is 143\nContainer exited with a non-zero exit code 143.",
        "YARN",
        "terminated",
    ),
    "Ray": (
        "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\n"
        "Memory on the node (IP: 10.0.0.4, ID: ab) where the task ran was 60.1GB / 62.0GB (0.969), which exceeds the "
        "memory usage threshold of 0.95.",
        "Ray",
        "host-out-of-memory",
    ),
    "Ray, of many workers": (
        "(raylet) 2 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other "
        "reasons at node (ID: ab, IP: 10.0.0.4)",
        "Ray",
        "host-out-of-memory",
    ),
    "systemd-oomd": (
        "Mar 04 05:06:07 box systemd-oomd[811]: Killed /user.slice/session-3.scope due to memory pressure for "
        "/user.slice being 71% > 50% for > 20s with reclaim activity",
        "systemd-oomd",
        "host-out-of-memory",
    ),
    "systemd": (
        "train.service: A process of this unit has been killed by the OOM killer.",
        "systemd-oomd",
        "host-out-of-memory",
    ),
    "earlyoom": (
        "earlyoom[91]: sending SIGTERM to process 4411 uid 1000 python: badness 900, VmRSS 9000 MiB",
        "earlyoom",
        "host-out-of-memory",
    ),
    "the kernel": (
        "[ 911.1] Out of memory: Killed process 4411 (python3) total-vm:9000000kB, anon-rss:8000000kB",
        "the kernel",
        "host-out-of-memory",
    ),
    "the kernel, a control group": (
        "[ 911.1] Memory cgroup out of memory: Killed process 4411 (python) total-vm:9000000kB",
        "the kernel",
        "host-out-of-memory",
    ),
    "timeout": ("timeout: sending signal TERM to command ‘python’", "timeout", "time-limit-reached"),
    "the cloud": ("Instance was preempted.", "the cloud", "terminated"),
}


@pytest.mark.parametrize(("words", "by", "rule"), VERDICTS.values(), ids=VERDICTS)
def test_what_a_batch_system_says_is_the_answer(words: str, by: str, rule: str) -> None:
    diagnosis = answer(f"{OPEN_EPOCH}{words}\n")
    assert [event.by for event in diagnosis.run.all(Verdict)][:1] == [by]
    finding = diagnosis.findings[0]
    assert finding.rule == rule
    assert finding.confidence.name == "CERTAIN"
    assert by in f"{finding.cause} {[each.says for each in finding.evidence]}"
    assert diagnosis.outcome == ("crashed" if rule == "host-out-of-memory" else "stopped")


def test_the_line_of_the_batch_system_is_quoted_with_its_number() -> None:
    words = f"{SLURM} DUE TO TIME LIMIT ***"
    assert answer(f"{OPEN_EPOCH}{words}\n").findings[0].evidence[0].says == f"line 3: “{words}”"


@pytest.mark.parametrize("words", ["Killed", "Exited with exit code 137.", "      Exit Code:    137"])
def test_sigkill_alone_is_not_taken_for_memory(words: str) -> None:
    rules = [finding.rule for finding in answer(f"{OPEN_EPOCH}{words}\n").findings]
    assert rules == ["killed-by-signal"]


def test_a_verdict_after_which_training_went_on_was_about_another_process() -> None:
    kernel = "[ 911.1] Out of memory: Killed process 4411 (firefox) total-vm:9000000kB\n"
    diagnosis = answer(epochs(1, 2) + kernel + epochs(1, 2, first=2))
    assert (diagnosis.findings, diagnosis.outcome) == ((), "finished")


MOVING = "Epoch 1/9\n" + "\r".join(bar2(done, 100) for done in range(30, 41)) + "\n"
ERRORS = {
    "time-limit-reached": f"{SLURM} DUE TO TIME LIMIT ***\n",
    "killed-by-signal": "Killed\n",
    "unhandled-exception": TRACEBACK,
    "gpu-out-of-memory": "2020-05-04 03:02:01.123456: E tensorflow/stream_executor/cuda/cuda_driver.cc:828] failed to "
    "allocate 2.20G: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n",
}


@pytest.mark.parametrize("rule", ERRORS)
def test_one_more_picture_of_the_bar_was_on_its_way_already(rule: str) -> None:
    assert cause(f"{MOVING}{ERRORS[rule]}{bar2(41, 100)}\n") == rule


def test_a_cancelled_job_may_print_until_it_is_killed() -> None:
    after = "\r".join(bar2(done, 100) for done in range(41, 60))
    assert cause(f"{MOVING}{ERRORS['time-limit-reached']}{after}\n") == "time-limit-reached"


def test_a_verdict_goes_before_the_traceback_that_it_left_behind() -> None:
    died = TRACEBACK.replace("KeyError: 'speed'", "SystemExit: 143")
    assert cause(f"{OPEN_EPOCH}{SLURM} DUE TO TIME LIMIT ***\n{died}") == "time-limit-reached"


DESCRIBED = (
    "    State:          Terminated\n"
    "      Reason:       {}\n"
    "      Exit Code:    {}\n"
    "      Started:      Tue, 04 Mar 2025 05:06:07 +0000\n"
)


def test_kubectl_describe_of_a_pod_that_was_killed_for_memory() -> None:
    assert cause(OPEN_EPOCH + DESCRIBED.format("OOMKilled", 137)) == "host-out-of-memory"


def test_kubectl_describe_of_a_pod_that_ended_well() -> None:
    diagnosis = answer(ONE_FIT + DESCRIBED.format("Completed", 0))
    assert (diagnosis.findings, diagnosis.outcome) == ((), "finished")


def test_kubectl_describe_of_a_pod_that_ended_with_an_error() -> None:
    diagnosis = answer(OPEN_EPOCH + DESCRIBED.format("Error", 1))
    assert (diagnosis.run.signal, diagnosis.run.exit_code) == (None, 1)


UNREAD_VERDICTS = {
    "SLURM, force": ("srun: Force Terminated job 8812", "terminated"),
    "Kubernetes, a pod's deadline": (
        "Reason:   DeadlineExceeded\nMessage:  Pod was active on the node longer than the specified deadline",
        "time-limit-reached",
    ),
    "SGE, wallclock": (
        "job 4711.1 exceeded hard wallclock time - initiate terminate method",
        "time-limit-reached",
    ),
    "a CI runner": (
        "The job running on runner big-1 has exceeded the maximum execution time of 360 minutes.",
        "time-limit-reached",
    ),
    "Moab": ("job violates resource utilization policies: walltime 3630 of 3600", "time-limit-reached"),
    "HTCondor, a signal": (f"005 {CONDOR} Job terminated.\n\t(0) Abnormal termination (signal 9)", "killed-by-signal"),
}


@pytest.mark.parametrize(("words", "rule"), UNREAD_VERDICTS.values(), ids=UNREAD_VERDICTS)
def test_more_words_of_batch_systems(words: str, rule: str) -> None:
    assert cause(f"{OPEN_EPOCH}{words}\n") == rule


def test_a_job_that_its_owner_killed_was_not_interrupted_from_a_keyboard() -> None:
    words = "TERM_OWNER: job killed by owner.\nExited with exit code 130."
    assert cause(f"{OPEN_EPOCH}{words}\n") == "terminated"


def test_timeout_is_no_data_source() -> None:
    findings = answer(f"{OPEN_EPOCH}timeout: sending signal TERM to command ‘python’\n").findings
    assert "data-source-unreachable" not in [finding.rule for finding in findings]


def test_a_missing_dll_is_a_crash() -> None:
    assert answer(f"{OPEN_EPOCH}Process finished with exit code -1073741515 (0xC0000135)\n").outcome == "crashed"


FATAL = {
    "TensorFlow": "2025-03-04 05:06:07.123456: F tensorflow/core/framework/tensor.cc:770] Check failed: 1 == 9",
    "TensorFlow, old": "F tensorflow/core/framework/tensor.cc:770] Check failed: 1 == 9 (1 vs. 9)",
    "absl with a date": "F0304 05:06:07.123456    4411 tensor.cc:770] Check failed: 1 == 9 (1 vs. 9)",
}


@pytest.mark.parametrize("words", FATAL.values(), ids=FATAL)
def test_a_failed_check_ends_the_process_by_itself(words: str) -> None:
    diagnosis = answer(f"{OPEN_EPOCH}{words}\n")
    assert diagnosis.run.signal == "SIGABRT"
    assert diagnosis.outcome == "crashed"
    assert diagnosis.findings[0].rule == "aborted"


def test_a_failed_check_of_todays_absl() -> None:
    words = "F0000 00:00:1741064767.123456    4411 tensor.cc:770] Check failed: 1 == 9 (1 vs. 9)"
    assert answer(f"{OPEN_EPOCH}{words}\n").run.signal == "SIGABRT"


def test_how_far_it_had_come_is_said_with_the_end() -> None:
    log = f"Epoch 3/9\n{bar2(40, 100)}\nKilled\n"
    assert answer(log).findings[0].evidence[-1].says.endswith("epoch 3 of 9, 40 of 100 batches")


@pytest.mark.parametrize(("line", "rule"), [("Terminated", "terminated"), ("^C", "interrupted")])
def test_a_log_does_not_show_who_sent_the_signal(line: str, rule: str) -> None:
    finding = answer(f"{OPEN_EPOCH}{line}\n").findings[0]
    assert finding.rule == rule
    assert "the log does not show who sent the signal" in [each.says for each in finding.evidence]
