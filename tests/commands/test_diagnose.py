"""laststep diagnose: a bare log in, the same kind of answer out; and one clear line when it cannot."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from laststep.cli import main

Result = subprocess.CompletedProcess[str]
Diagnose = Callable[..., Result]

BAR = " 40/100 [===========>..................] - ETA: 6s - loss: 0.5000"
OPEN_EPOCH = f"Epoch 1/9\n{BAR}\n"
FULL = "100/100 [==============================] - 9s 90ms/step - loss: 0.4000"
HEALTHY = f"Epoch 1/2\n{FULL}\nEpoch 2/2\n{FULL}\n"
TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "/home/anna/train.py", line 31, in <module>\n'
    "    main()\n"
    '  File "/home/anna/train.py", line 12, in main\n'
    '    rows = table["speed"]\n'
    "KeyError: 'speed'\n"
)
ONEDNN = "2025-03-04 05:06:07.123456: I tensorflow/core/util/port.cc:153] oneDNN custom operations are on.\n"
TIME_LIMIT = "slurmstepd: error: *** JOB 8812 ON gpu07 CANCELLED AT 2025-03-04T05:06:07 DUE TO TIME LIMIT ***\n"
LOGS = {
    "healthy.log": HEALTHY,
    "open.log": OPEN_EPOCH,
    "died.log": ONEDNN + OPEN_EPOCH + TRACEBACK,
    "killed.log": f"{OPEN_EPOCH}./job.sh: line 12: 24905 Killed                  python train.py\n",
    "time.log": OPEN_EPOCH + TIME_LIMIT,
    "nan.log": f"Epoch 1/1\n{FULL.replace('0.4000', 'nan')}\n",
    "several.log": (ONEDNN + OPEN_EPOCH + TRACEBACK) * 3,
    "empty.log": "",
}
ANSWERS = {
    "healthy.log": ("finished", None),
    "open.log": ("unknown", None),
    "died.log": ("crashed", "unhandled-exception"),
    "killed.log": ("stopped", "killed-by-signal"),
    "time.log": ("stopped", "time-limit-reached"),
    "nan.log": ("finished", "nan-loss"),
    "several.log": ("crashed", "unhandled-exception"),
    "empty.log": ("unknown", None),
}


@pytest.fixture
def logs(here: Path) -> Path:
    """The working directory, with the logs in it."""
    for name, text in LOGS.items():
        (here / name).write_text(text)
    return here


@pytest.fixture
def diagnose(logs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Diagnose:
    """`laststep diagnose …` in the working directory, without a process of its own."""
    monkeypatch.chdir(logs)
    monkeypatch.delenv("NO_COLOR", raising=False)

    def call(*words: str, columns: int = 80) -> Result:
        monkeypatch.setenv("COLUMNS", str(columns))
        status = main(["diagnose", *words])
        shown = capsys.readouterr()
        return Result(words, status, shown.out, shown.err)

    return call


@pytest.mark.parametrize("name", LOGS)
def test_the_answer_to_a_log(laststep, logs, name):
    result = laststep("diagnose", name)
    assert (result.returncode, result.stderr) == (0, "")
    assert {path.name for path in logs.iterdir()} == {*LOGS, "prog.py"}  # it writes nothing but its answer
    outcome, rule = ANSWERS[name]
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["laststep", "·", name, outcome]
    assert "not recorded by laststep" in lines[1]
    assert [line for line in lines if len(line) > 80] == []
    assert len(lines) <= 45
    assert "\nWhat happened\n" in result.stdout
    if rule is None:
        assert "laststep explain" not in result.stdout
    else:
        assert result.stdout.count(f" {rule}\n") == 1  # beside the heading
        assert f"laststep explain {rule}" in result.stdout


def test_from_standard_input_it_is_the_same(laststep, logs):
    from_file, from_input = laststep("diagnose", "died.log"), laststep("diagnose", "-", stdin=LOGS["died.log"])
    assert from_input.returncode == 0
    assert from_input.stdout.splitlines()[2:-1] == from_file.stdout.splitlines()[2:-1]


def test_a_path_may_lead_anywhere(diagnose, logs):
    (logs / "deep").mkdir()
    (logs / "deep" / "other.log").write_text(LOGS["died.log"])
    for path in ("deep/other.log", str(logs / "deep" / "other.log")):
        result = diagnose(path)
        assert result.returncode == 0
        assert result.stdout.startswith("laststep · other.log ")
        assert "KeyError" in result.stdout


def test_json_keeps_its_promise(diagnose):
    result = diagnose("--json", "died.log")
    assert (result.returncode, result.stderr) == (0, "")
    data = json.loads(result.stdout)
    assert set(data) == {"log", "harmless", "run", "findings", "ruled_out", "unchecked"}
    assert data["log"] == {
        "file": "died.log",
        "lines": 9,
        "bytes": len(LOGS["died.log"]),
        "runs": 1,
        "rubbish": 0,
    }
    [harmless] = data["harmless"]
    assert set(harmless) == {"words", "meaning", "times"}
    assert harmless["times"] == 1
    assert set(data["run"]) == {"id", "command", "outcome", "exit", "steps", "epochs", "seconds"}
    assert data["run"]["id"] == "died.log"
    assert data["run"]["outcome"] == "crashed"
    assert data["run"]["exit"] == {"code": None, "signal": None}
    assert data["run"]["epochs"]["asked"] == 9
    finding = data["findings"][0]
    assert set(finding) == {"rule", "symptom", "cause", "confidence", "follows_from", "where", "evidence", "remedies"}
    assert finding["rule"] == "unhandled-exception"
    assert finding["where"] == {"file": "/home/anna/train.py", "line": 12}
    for name in ("ruled_out", "unchecked"):
        assert data[name]
        assert all(set(item) == {"rule", "because"} for item in data[name])


def test_json_asks_every_rule_once(diagnose):
    from laststep.rules.rule import all_rules

    data = json.loads(diagnose("--json", "time.log").stdout)
    asked = [item["rule"] for name in ("findings", "ruled_out", "unchecked") for item in data[name]]
    assert sorted(asked) == sorted(all_rules())
    assert not any("failed" in item["because"] for item in data["unchecked"])


def test_json_has_no_nan(diagnose):
    def refuse(word: str) -> None:
        raise AssertionError(word)

    data = json.loads(diagnose("--json", "nan.log").stdout, parse_constant=refuse)
    assert data["findings"][0]["rule"] == "nan-loss"


def test_several_files_give_a_list(diagnose):
    result = diagnose("--json", *LOGS)
    data = json.loads(result.stdout)
    assert [each["log"]["file"] for each in data] == list(LOGS)
    found = [(each["run"]["outcome"], each["findings"][0]["rule"] if each["findings"] else None) for each in data]
    assert found == list(ANSWERS.values())
    assert data[list(LOGS).index("several.log")]["log"]["runs"] == 3


def test_several_files_give_a_page_each(diagnose):
    result = diagnose("died.log", "healthy.log", "several.log")
    assert result.returncode == 0
    pages = result.stdout.split("laststep · ")[1:]
    assert [page.split()[0] for page in pages] == ["died.log", "healthy.log", "several.log"]
    assert "KeyError" in pages[0]
    assert "Nothing to report." in pages[1]
    assert "The log holds 3 runs; this is the last one" in " ".join(pages[2].split())


def test_verbose_shows_the_stack_and_what_was_ruled_out(diagnose):
    short, whole = diagnose("died.log").stdout, diagnose("-v", "died.log").stdout
    assert "/home/anna/train.py:31 in <module>" not in short
    assert "/home/anna/train.py:31 in <module>" in whole
    assert "Ruled out" not in short
    assert "\nRuled out\n" in whole


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_the_page_is_as_wide_as_the_terminal_and_no_wider(diagnose, columns):
    result = diagnose(*LOGS, columns=columns)
    assert [line for line in result.stdout.splitlines() if len(line) > min(columns, 100)] == []


def test_gzip(diagnose, logs):
    (logs / "died.log.gz").write_bytes(gzip.compress(LOGS["died.log"].encode()))
    assert "KeyError" in diagnose("died.log.gz").stdout


def test_gzip_that_is_cut(diagnose, logs):
    whole = gzip.compress("".join(f"{random.Random(n).random()}\n" for n in range(3000)).encode())
    (logs / "cut.log.gz").write_bytes(whole[: len(whole) // 2])
    result = diagnose("cut.log.gz")
    assert "Traceback" not in result.stderr
    assert result.returncode in (0, 2)


def test_utf_16_as_powershell_writes_it(diagnose, logs):
    text = (OPEN_EPOCH + TRACEBACK.replace("speed", "größe")).replace("\n", "\r\n")
    (logs / "windows.log").write_bytes(b"\xff\xfe" + text.encode("utf-16-le"))
    assert "KeyError: 'größe'" in diagnose("windows.log").stdout


RUBBISH = {
    "program": b"\x7fELF\x02\x01\x01" + bytes(300) + bytes(range(256)) * 4,
    "random.bin": random.Random(7).randbytes(4000),
    "weights.h5": b"\x89HDF\r\n\x1a\n" + random.Random(8).randbytes(4000),
}


@pytest.mark.parametrize("name", RUBBISH)
def test_what_is_no_text_is_refused_in_one_line(diagnose, one_line, logs, name):
    (logs / name).write_bytes(RUBBISH[name])
    result = diagnose(name)
    assert one_line(result).startswith(f"laststep: {name} is not a text")
    assert result.returncode == 2


def test_what_is_no_text_on_standard_input(here):
    command = [sys.executable, "-m", "laststep", "diagnose", "-"]
    result = subprocess.run(command, input=RUBBISH["program"], capture_output=True, cwd=here, check=False)
    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr.startswith(b"laststep: standard input is not a text")
    assert result.stderr.count(b"\n") == 1


def test_a_missing_file(diagnose, one_line):
    result = diagnose("nowhere.log")
    assert "nowhere.log" in one_line(result)
    assert result.returncode == 2


def test_a_missing_file_among_others(diagnose, one_line):
    assert "nowhere.log" in one_line(diagnose("died.log", "nowhere.log"))


def test_a_folder(diagnose, one_line, logs):
    (logs / "runs").mkdir()
    result = diagnose("runs")
    assert one_line(result) == "laststep: runs is a folder; for a run folder use `laststep why runs`"
    assert result.returncode == 2


def test_no_file_at_all(laststep):
    result = laststep("diagnose")
    assert result.returncode == 2
    assert "FILE" in result.stderr


def test_nothing_in_a_log_can_drive_the_terminal(diagnose, logs):
    evil = "\x1b[2J\x1b]0;owned\x07 wiped \x1b[31m"
    (logs / "evil.log").write_text(OPEN_EPOCH + TRACEBACK.replace("'speed'", evil) + TIME_LIMIT.replace("gpu07", evil))
    for how in ("-v", "--json"):
        shown = diagnose(how, "evil.log").stdout
        assert "wiped" in shown
        assert not set(shown) & set("\x1b\x07\x08\r")
        assert "[2J" not in shown


def test_a_recorded_run_and_its_bare_log_have_the_same_answer(laststep, here):
    (here / "dies.py").write_text("def main():\n    raise ValueError('boom')\n\nmain()\n")
    printed = laststep("run", "--quiet", "dies.py").stderr
    (here / "bare.log").write_text(printed)
    recorded = json.loads(laststep("why", "--json").stdout)["findings"][0]
    [data] = json.loads(laststep("diagnose", "--json", "bare.log").stdout)["findings"]
    for name in ("rule", "symptom", "confidence", "where"):
        assert data[name] == recorded[name], name


def test_the_page_about_a_log_sends_nobody_to_why(diagnose):
    assert "laststep why" not in diagnose("died.log").stdout


# As `laststep diagnose -`, and then how much memory this process had at most, in kB.
READ = (
    "import sys; from laststep.cli import main; status = main(['diagnose', '-'])\n"
    "sys.stderr.write(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])\n"
    "sys.exit(status)"
)


def pieces(size: int) -> Iterator[bytes]:
    """Bars, lines that repeat themselves and lines that do not, and a traceback as the end."""
    choose = random.Random(20250304)
    bars = "\r".join(BAR.replace("40/", f"{done}/") for done in range(99))
    alike = "".join(f"INFO:root:step {step}: loss 0.{step}, the usual words\n" for step in range(200))
    repeated = f"{bars}\r{FULL}\n{alike}" * 30
    words = [choose.randbytes(4).hex().translate(str.maketrans("0123456789", "ghijklmnop")) for _ in range(500)]
    epoch = 0
    while size > 0:
        epoch += 1
        different = "".join(f"{' '.join(choose.sample(words, 6))}\n" for _ in range(60))
        piece = f"Epoch {epoch}/100000\n{repeated}{different}".encode()
        size -= len(piece)
        yield piece
    yield TRACEBACK.encode()


def peak_memory(size: int) -> int:
    """The most memory in kB that it takes to read so many bytes from a pipe."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", READ], stdin=pipe, stdout=pipe, stderr=pipe) as reader:
        assert reader.stdin is not None
        for piece in pieces(size):
            reader.stdin.write(piece)
        stdout, stderr = reader.communicate()
    assert reader.returncode == 0, stderr
    assert b"KeyError: 'speed'" in stdout
    return int(stderr)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the kernel does not say how much memory it was")
def test_memory_does_not_grow_with_the_log():
    small, large = peak_memory(6_000_000), peak_memory(60_000_000)
    assert large - small < 30_000
    assert large < 200_000
