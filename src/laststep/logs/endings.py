"""How the process ended, as shells, batch systems, container engines and the kernel print it → events."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator

from laststep.logs.line_reader import LogLine
from laststep.record.event import Event
from laststep.record.events.logs import SOURCE
from laststep.record.events.supervisor import KernelLine, ProcessEnd, Verdict

# The C library's descriptions of signals, as shells print them.
_DESCRIPTIONS = {
    "SIGKILL": "Killed",
    "SIGSEGV": "Segmentation fault",
    "SIGABRT": "Aborted",
    "SIGILL": "Illegal instruction",
    "SIGBUS": "Bus error",
    "SIGTERM": "Terminated",
    "SIGHUP": "Hangup",
    "SIGXCPU": "CPU time limit exceeded|Cputime limit exceeded",
    "SIGXFSZ": "File size limit exceeded",
    "SIGUSR1": "User defined signal 1",
    "SIGUSR2": "User defined signal 2",
    "SIGFPE": "Floating point exception",
    "SIGTRAP": "Trace/breakpoint trap",
}
# The same in other languages. A program may also print these words itself: `Estado: Terminado` is not a signal.
_TRANSLATED = {
    "SIGKILL": "Getötet|Processus arrêté|Tué|Terminado \\(killed\\)|Matado|Ucciso|Morto|Убито|已杀死|已杀掉|죽었음",
    "SIGSEGV": "Speicherzugriffsfehler|Erreur de segmentation|Violación de segmento|Falha de segmentação|"
    "Errore di segmentazione|Ошибка сегментирования|段错误|セグメンテーション違反です|세그멘테이션 오류",
    "SIGABRT": "Abgebrochen|Abandon|Abortado|Abortito|Аварийный останов|已放弃|已中止|中止|중지됨",
    "SIGILL": "Ungültiger Maschinenbefehl|Instruction non permise|Instrução ilegal|Instrucción ilegal|非法指令",
    "SIGBUS": "Bus-Zugriffsfehler|Erreur du bus|Erro de barramento|Error en el bus|Ошибка шины|总线错误",
    "SIGTERM": "Beendet|Complété|Terminado|Terminato|Завершено|已终止",
}
_UNAMBIGUOUS = "Speicher|segment|сегмент|段错误|セグ|세그|Maschinenbefehl|Bus-|Убито|已杀|Getötet|已放弃"
_CORE = r"\(.{0,40}(?:core|Speicherabzug|noyau|núcleo|памяти|核心|コア).{0,30}\)"
# `./job.sh: line 12: 24905 Killed   python train.py`, `[1]+  Killed   python …`
_JOB = (
    r"(?:[:：] ?(?:(?:line|Zeile|ligne|línea|linha|строка|行) ?\d+|第 ?\d+ ?行) ?[:：]\s+\d+ |"
    r"^\[\d+\][+-]?\s+(?:\d+ )?)"
)
_SHELL = [
    (name, re.compile(rf"(?:^|^\s*\d+ |tasks? [\d,-]+: |{_JOB})(?:{words})(?:\s*{_CORE})?(?:\s{{2,}}\S.*)?\s*$"))
    for name, words in _DESCRIPTIONS.items()
] + [
    (name, re.compile(rf"(?:{_JOB}(?:{words})|^(?:{words})\s*{_CORE}|^(?=.*(?:{_UNAMBIGUOUS}))(?:{words})\s*$)"))
    for name, words in _TRANSLATED.items()
]
_LONG_JOB = re.compile(_JOB)
# zsh, fish and macOS have their own descriptions.
_ZSH = re.compile(
    r"(?:zsh: |fish: .*|^\[\d+\]\s+[+-]?\s*\d+ )(?:(killed)|(segmentation fault)|(abort)|(illegal hardware "
    r"instruction)|(bus error)|"
    r"(terminated)|(hangup)|(trace trap))\b"
)
_ZSH_SIGNALS = ("SIGKILL", "SIGSEGV", "SIGABRT", "SIGILL", "SIGBUS", "SIGTERM", "SIGHUP", "SIGTRAP")
# macOS adds its own numbers, of which some mean another signal on Linux.
_MACOS = re.compile(
    r"^(?:.*: line \d+:\s+\d+ )?(?:(Killed: 9)|(Segmentation fault: 11)|(Abort trap: 6)|(Illegal instruction: 4)|"
    r"(Bus error: 10)|(Terminated: 15)|(Hangup: 1)|(Trace/BPT trap: 5))\b"
)
_GDB = re.compile(r"(?:received signal|\*\*\* Received signal) (?:(SIG\w+)|(\d{1,3})) ?(?:,|\*\*\*|\()")
_ABORTS = re.compile(
    r"^Check failed: |^LLVM ERROR: |^libc\+\+abi(?:\.dylib)?: terminating|^terminate called|"
    r"^Fatal Python error: Aborted|Check failed: .*(?:Aborted|core dumped)|\bAbort message:"
)
_FAULTS = re.compile(r"^Fatal Python error: Segmentation fault|Windows fatal exception: access violation")
_QEMU = re.compile(r"qemu: uncaught target signal (\d+)")
_CODE = re.compile(
    r"(?i)(?:process finished|exited?|terminated|failed|returned|finished|ended)\b[^\d\n]{0,40}?"
    r"\b(?:exit[ -]?(?:code|status)|return(?:ed)?[ -](?:code|value)|non-zero(?: exit)? (?:status|code)|exit value)"
    r"[ :=(]{1,3}(?:is )?\(?(?P<code>-?\d{1,12}|0x[0-9A-Fa-f]{1,16})(?=[\s.,;:)\]]|$)(?![ .]\d)"
    r"|\bexited with (?:code )?(?P<with>-?\d{1,3})(?=[\s.,;)]|$)|python process exited with code (?P<java>\d{1,3})\b"
    r"|^\s*(?:exit[ _]?(?:code|status)|ExitCode|exitCode)\"?\s*[:=]?\s+(?P<plain>-?\d{1,12})\b"
    r"|Normal termination \(return value (?P<condor>\d{1,12})\)|^make.*: \*\*\* .*Error (?P<make>\d{1,3})$"
    r"|Exit code is (?P<yarn>\d{1,12})|exit status (?P<go>\d{1,12})$"
)
_DIED = re.compile(
    r"died with <Signals\.(SIG\w+)|(?:terminated|killed) by signal:? ?(?:(SIG\w+)|(\d{1,3}))|exited on signal "
    r"(\d{1,3})|Abnormal termination \(signal (\d{1,3})\)|"
    r"signal: (killed|aborted|segmentation fault|terminated)"
)
_WINDOWS = re.compile(r"-1073[67]\d{5}\b|\b322122\d{4}\b|\b0x[Cc]0000[0-9A-Fa-f]{3}\b")
_NOT_OURS = re.compile(r"subprocess\.cc|SubProcess ended|ptxas|ldconfig|nvidia-smi|pip |git ")
# Windows ends a process with an NTSTATUS: https://learn.microsoft.com/openspecs/windows_protocols/ms-erref
NTSTATUS = {
    0xC0000005: "SIGSEGV",
    0xC00000FD: "SIGSEGV",
    0xC0000409: "SIGABRT",
    0xC0000374: "SIGABRT",
    0xC000001D: "SIGILL",
    0xC0000094: "SIGFPE",
    0xC000013A: "SIGINT",
}
WINDOWS_VERDICTS = {
    0xC0000135: "library-missing",
    0xC0000142: "library-missing",
    0xC000007B: "library-missing",
    0xC0000017: "memory",
    0xC000012D: "memory",
}

# (who reports it, why the process was ended, the pattern of its message). The reasons are those of `Verdict.why`.
_VERDICTS: list[tuple[str, str, re.Pattern[str]]] = [
    (by, why, re.compile(pattern, re.IGNORECASE))
    for by, why, pattern in [
        (
            "Jupyter",
            "kernel-died",
            r"KernelRestarter: restart(?:ing kernel \(\d+/\d+\)| failed)|\bkernel [\w-]{8,} (?:died|restarted)\b|"
            r"The Kernel crashed while executing code|Kernel died(?: before replying|, restarting)",
        ),
        (
            "SLURM",
            "time-limit",
            r"slurm.*(?:DUE TO TIME LIMIT|TimeLimit)|JOB \d+ .*CANCELLED.*DUE TO TIME LIMIT|CANCELLED.*DUE TO "
            r"TIME LIMIT",
        ),
        ("SLURM", "preempted", r"(?:slurm|CANCELLED).*DUE TO PREEMPTION"),
        ("SLURM", "node-lost", r"(?:slurm|CANCELLED).*DUE TO NODE FAILURE"),
        (
            "SLURM",
            "memory",
            r"(?:slurmstepd\S*|srun|sbatch|sacct):.*(?:oom.kill|out.of.memory|OUT_OF_ME|exceeded (?:job |step |"
            r"virtual )?memory limit|being killed)",
        ),
        (
            "SLURM",
            "memory",
            r"Exceeded job memory limit|Some of your processes may have been killed by the cgroup out-of-memory "
            r"handler",
        ),
        ("SLURM", "asked", r"(?:slurmstepd|srun).*(?:CANCELLED AT|Force Terminated|DUE TO SIGNAL Terminated)"),
        ("LSF", "memory", r"TERM_MEMLIMIT|TERM_SWAP"),
        ("LSF", "time-limit", r"TERM_RUNLIMIT|TERM_CPULIMIT|TERM_DEADLINE"),
        ("LSF", "asked", r"TERM_OWNER|TERM_ADMIN|TERM_FORCE_OWNER|TERM_FORCE_ADMIN|TERM_REQUEUE"),
        ("LSF", "preempted", r"TERM_PREEMPT|TERM_BUCKET_KILL|TERM_LOAD|TERM_WINDOW"),
        (
            "PBS",
            "time-limit",
            r"PBS: job killed: (?:walltime|cput)|job violates resource utilization policies.*walltime|walltime "
            r"\d+ exceeded limit",
        ),
        ("PBS", "memory", r"PBS: job killed: (?:p?v?mem|node .*mem)|(?:p?v?mem) \d+\w* exceeded limit"),
        ("PBS", "asked", r"PBS: job killed by|job deleted at request of|Job deleted by"),
        (
            "SGE",
            "time-limit",
            r"exceeded wallclock limit|exceed\w* (?:job )?hard (?:wallclock|cpu) ?(?:time)?|(?:hard|soft) limit "
            r"\"?(?:h_rt|h_cpu|s_rt)|^failed\s+(?:37|44|100)\b(?!.*h_vmem).*(?:h_rt|wallclock)",
        ),
        ("SGE", "memory", r"exceeds job hard limit \"?h_vmem|hard limit \"?(?:h_vmem|h_rss)"),
        (
            "HTCondor",
            "memory",
            r"memory usage (?:has )?exceeded (?:request_memory|the requested)|Job has gone over memory limit",
        ),
        ("HTCondor", "asked", r"Job was aborted by the user|via condor_rm"),
        ("Kubernetes", "memory", r"OOMKilled|Evicted.*memory|low on resource: memory|reason: Evicted.*memory"),
        (
            "Kubernetes",
            "time-limit",
            r"Reason: +DeadlineExceeded|active (?:on the node )?longer than (?:the )?specified deadline",
        ),
        (
            "Kubernetes",
            "preempted",
            r"\bPreempt(?:ed|ing)\b.*(?:pod|scheduler)|Reason: +(?:Preempted|Preempting|NodeShutdown)|imminent "
            r"node shutdown",
        ),
        ("YARN", "memory", r"running beyond (?:physical|virtual) memory limits"),
        ("YARN", "asked", r"Container killed (?:by|on request)|killed by the (?:ApplicationMaster|user)"),
        (
            "Ray",
            "memory",
            r"(?:worker|task|actor)\w*\b.*killed due to (?:the node running low on memory|memory pressure)|"
            r"\bray\.exceptions\.OutOfMemoryError|Memory on the node .* exceeds the memory usage threshold",
        ),
        (
            "systemd-oomd",
            "memory",
            r"systemd-oomd\[?\d*\]?: .*[Kk]illed|killed by the OOM killer|A process of this unit has been killed "
            r"by the OOM",
        ),
        ("earlyoom", "memory", r"earlyoom.*sending SIG(?:KILL|TERM)"),
        (
            "the kernel",
            "memory",
            r"Out of memory: Kill(?:ed)? process|Memory cgroup out of memory|oom-kill:constraint|invoked "
            r"oom-killer|oom_reaper: reaped",
        ),
        (
            "the cloud",
            "preempted",
            r"instance (?:was|is being|will be) preempted|received (?:a )?preemption notice|spot instance "
            r"(?:interruption|"
            r"termination)|maintenance event.*terminat",
        ),
        (
            "timeout",
            "time-limit",
            r"^timeout: sending signal|Job(?: \d+)? (?:was )?(?:killed|cancel\w+|terminated).*(?:time ?limit|"
            r"wall ?time|timed out)|The job running on runner .* has exceeded the maximum execution time",
        ),
    ]
]
MAX_VERDICT_CHARS = 1000  # of a line that is searched for one
MAX_WINDOWS_CHARS = 300
MAX_SHELL_CHARS = 200
MAX_TEXT_CHARS = 300  # of a line that an event keeps
MAX_KERNEL_CHARS = 500
# Only lines with one of these words are searched: dozens of patterns on each line would take too long.
_KEYWORD = re.compile(
    r"(?i)kill|signal|abort|fault|terminat|limit|memory|TERM_|oom|cancel|deadline|evict|preempt|exit|code|status|error|"
    r"instruction|hangup|trap|exceed|violat|delet|condor|unit has been|shutting down|spot|maintenance|runner|returned|"
    r"restart|crashed|died|finished|0x|-1073|32212|\^C|check failed|NVRM|opcode|general protection|completed|"
    r"segment|[^\x00-\x7f]|abgebrochen|beendet|speicher|abandon|matado|ucciso|morto|abortito|bus"
)
_KERNEL = re.compile(r"segfault at |trap invalid opcode|general protection|NVRM: Xid|Killed process|oom-kill:")


class Endings:
    """Reads line by line."""

    def __init__(self) -> None:
        self.ended_at: int | None = None

    def take(self, line: LogLine) -> Iterator[Event]:
        text = line.text.strip()
        if not _KEYWORD.search(text):
            return
        for event in _read(line, text):
            if isinstance(event, ProcessEnd):
                self.ended_at = line.number
            yield event


def end_at(line: LogLine, code: int | None, signal: str | None = None) -> ProcessEnd:
    """This line shows that the process ended with this code, or by this signal."""
    time, text = float(line.number), line.text[:MAX_TEXT_CHARS]
    return ProcessEnd(time=time, source=SOURCE, code=code, signal=signal, at_line=line.number, text=text)


def _verdict_at(line: LogLine, by: str, why: str) -> Verdict:
    time, text = float(line.number), line.text[:MAX_TEXT_CHARS]
    return Verdict(time=time, source=SOURCE, by=by, why=why, at_line=line.number, text=text)


def _kernel_line_at(line: LogLine, text: str) -> KernelLine:
    return KernelLine(
        time=float(line.number),
        source=SOURCE,
        line=text[:MAX_KERNEL_CHARS],
        at_line=line.number,
        text=line.text[:MAX_TEXT_CHARS],
    )


def _read(line: LogLine, text: str) -> Iterator[Event]:
    if text == "Successfully completed.":  # LSF
        yield end_at(line, 0)
    if _KERNEL.search(text):
        yield _kernel_line_at(line, text)
    if len(text) < MAX_VERDICT_CHARS:
        for by, why, pattern in _VERDICTS:
            if pattern.search(text):
                yield _verdict_at(line, by, why)
                break
    name = _signal_in(text)
    if name:
        yield end_at(line, None, name)
        return
    windows = _WINDOWS.search(text) if len(text) < MAX_WINDOWS_CHARS else None
    if windows:
        yield from _by_code(line, windows[0])
        return
    found = _CODE.search(text)
    if found and not _NOT_OURS.search(text):
        yield from _by_code(line, next(word for word in found.groups() if word))


def _signal_in(text: str) -> str | None:
    died = _DIED.search(text) or _GDB.search(text)
    if died:
        word = next(word for word in died.groups() if word)
        signals = {"killed": "SIGKILL", "aborted": "SIGABRT", "segmentation fault": "SIGSEGV", "terminated": "SIGTERM"}
        return signals.get(word) or (word if word.startswith("SIG") else _name_of(int(word)))
    zsh = _ZSH.search(text)
    if zsh:
        return next(name for name, word in zip(_ZSH_SIGNALS, zsh.groups(), strict=True) if word)
    if len(text) < MAX_SHELL_CHARS or _LONG_JOB.search(text[:MAX_SHELL_CHARS]):
        for name, pattern in _SHELL:
            if pattern.search(text):
                return name
        macos = _MACOS.match(text)
        if macos:
            return next(name for name, word in zip(_ZSH_SIGNALS, macos.groups(), strict=True) if word)
    if text.startswith("^C"):
        return "SIGINT"
    if _ABORTS.search(text) or _FAULTS.search(text):
        return "SIGABRT" if _ABORTS.search(text) else "SIGSEGV"
    qemu = _QEMU.search(text)
    if qemu:
        return _name_of(int(qemu[1]))
    return None


def _by_code(line: LogLine, word: str) -> Iterator[Event]:
    code = int(word, 0)
    windows = code & 0xFFFFFFFF
    if windows in NTSTATUS:
        yield end_at(line, None, NTSTATUS[windows])
    elif windows in WINDOWS_VERDICTS:
        yield _verdict_at(line, "Windows", WINDOWS_VERDICTS[windows])
        yield end_at(line, code)
    elif -65 < code < 0:
        yield end_at(line, None, _name_of(-code))
    elif 128 < code < 165 and _name_of(code - 128):
        yield end_at(line, None, _name_of(code - 128))
    else:
        yield end_at(line, code)


def _name_of(number: int) -> str | None:
    try:
        return signal.Signals(number).name
    except ValueError:
        return None
