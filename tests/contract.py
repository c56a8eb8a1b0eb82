"""With and without laststep a program does the same; bare runs are kept between test sessions."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import re
import sys
from pathlib import Path

from tests.harness import Ran, Scenario, environment, run_scenario

# The signal raises an exception wherever it strikes, or TensorFlow's own text differs from one bare run to the next.
STRIKES_ANYWHERE = {
    "interrupted",
    "interrupted__eager_loop",
    "peer_lost__parameter_server",
    "terminated__handler_raises",
}
CHANGES_EACH_TIME = (
    (re.compile(rb"[IWEF]0000 00:00:\d+\.\d+ +\d+ "), b"<tf time pid> "),
    (re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: "), b"<time>: "),
    (re.compile(rb"0x[0-9a-fA-F]+"), b"0x<address>"),
    (re.compile(rb"(?<=tempstate)\d+"), b"<number>"),  # a checkpoint that is being written
    (re.compile(rb"__autograph_generated_file\w+"), b"__autograph_generated_file"),
    # how many operations the process had made before: those of our probes count too
    (re.compile(rb"(?<=\[Op:__inference_)(\w+)_\d+(?=\])"), rb"\1_<number>"),
    (re.compile(rb"\{grpc_(?:message|status):[^}]*\}"), b"{grpc}"),  # in any order
    # Keras 2 compares clocks, and says this on a busy machine
    (re.compile(rb"WARNING:tensorflow:Callback method `\w+` is slow compared to the batch time [^\n]*\n"), b""),
    # a pass of TensorFlow's graph optimizer gives up on a loop: which one depends on the operations around it
    (re.compile(rb"(?<=meta_optimizer.cc:)\d+\] \w+ failed: [^\n]*"), b"<a pass failed>"),
    # a progress line's clock: `1s 479ms/step`, `0s - 14ms/step`, `544ms/epoch - 272ms/step`
    (re.compile(rb"\d+m?\d*s( -)? \d+m?u?s/(step|sample|epoch)"), b"<timing>"),
    (re.compile(rb"\d+m?u?s/(step|sample|epoch)"), b"<timing>"),
    (re.compile(rb" - <timing> - <timing>|(?<= - )\d+s (?=- )"), b"<timing>"),
)


def steady(output: bytes, cwd: Path) -> bytes:
    """Output without what differs from one bare run to the next: clocks, process ids, addresses, our folder."""
    output = output.replace(str(cwd).encode(), b"<cwd>")
    for pattern, instead in CHANGES_EACH_TIME:
        output = pattern.sub(instead, output)
    return output


def without_our_threads(stderr: bytes) -> bytes:
    """The program's own faulthandler shows all threads, so also our two: the README says so."""
    line, head = rb"  File [^\n]*\n", rb"Thread 0x\w+ \(most recent call first\):\n"
    ours = rb"  File [^\n]*/laststep/recorder/[^\n]*\n"
    return re.sub(head + rb"(?:" + line + rb")*?" + ours + rb"(?:" + line + rb")*\n", b"", stderr)


def check_same(asked: Scenario, with_it: Ran, without: Ran) -> None:
    """The same status and the same text, but for what differs between two bare runs too."""
    assert without.status == asked.exit, f"bare, it does not end as it says:\n{without.stderr.decode()}"
    assert with_it.status == without.status
    assert steady(with_it.stdout, with_it.cwd) == steady(without.stdout, without.cwd)
    if asked.name not in STRIKES_ANYWHERE:
        assert steady(without_our_threads(with_it.own_stderr), with_it.cwd) == steady(without.stderr, without.cwd)
    if asked.expect in ("callback-raised", "unhandled-exception") and "sys.excepthook = " not in asked.source:
        assert b"Traceback" in without.stderr, "the same traceback proves nothing where there is none"


def run_bare(asked: Scenario, cwd: Path) -> Ran:
    """As if laststep did not exist; or what came of it in an earlier session, with the same program and libraries."""
    kept = _cache() / f"{_fingerprint(asked)}.json"
    try:
        return _read(kept)
    except (OSError, ValueError, KeyError):
        pass
    ran = run_scenario(asked, cwd, recorded=False)
    if ran.status == asked.exit:
        _keep(ran, kept)
    return ran


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "laststep-tests" / "bare"


def _fingerprint(asked: Scenario) -> str:
    """Of all that what a bare program prints depends on."""
    libraries = sorted(f"{each.name} {each.version}" for each in importlib.metadata.distributions())
    here = {name: value for name, value in environment(Path(), Path()).items() if name != "HOME"}
    parts = [asked.source, sys.version, platform.platform(), sys.executable, libraries, sorted(here.items())]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _read(path: Path) -> Ran:
    kept = json.loads(path.read_text())
    stdout, stderr = (kept[name].encode("utf-8", "surrogateescape") for name in ("stdout", "stderr"))
    return Ran(kept["status"], stdout, stderr, Path(kept["cwd"]), kept["seconds"])


def _keep(ran: Ran, path: Path) -> None:
    stdout, stderr = (text.decode("utf-8", "surrogateescape") for text in (ran.stdout, ran.stderr))
    kept = {"status": ran.status, "stdout": stdout, "stderr": stderr, "cwd": str(ran.cwd), "seconds": ran.seconds}
    path.parent.mkdir(parents=True, exist_ok=True)
    written = path.with_suffix(f".{os.getpid()}")
    written.write_text(json.dumps(kept))
    written.replace(path)
