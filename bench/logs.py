"""How fast `laststep diagnose` reads a log, and the most memory that it takes: three kinds of log, generated here.

The clock runs around the whole command, start and answer included; by its processor time, which other programs on the
machine hardly change, it is said beside. Memory is what the kernel says about that process at its end (VmHWM), against
the same kind of log of a hundredth of the size.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import figures
from children import environment
from figures import Row

MB = 1_000_000
SIZE = 300 * MB
TARGET = 50  # MB/s
MORE = 30  # MB of memory that the large log may take beyond the small one
# As `laststep diagnose FILE`, and then its processor time and how much memory it had at most, in kB.
READ = (
    "import sys, time; from laststep.cli import main; status = main(['diagnose', sys.argv[1]])\n"
    "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1]\n"
    "sys.stderr.write(f'{time.process_time()} {peak}')\n"
    "sys.exit(status)"
)
TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "/home/anna/train.py", line 88, in <module>\n'
    "    report(history)\n"
    "KeyError: 'val_recall'\n"
)
WORDS = [
    "amber", "anchor", "basil", "birch", "cedar", "cinder", "clover", "copper", "coral", "dune", "ember", "fern",
    "flint", "garnet", "harbour", "hazel", "heron", "iris", "ivory", "jasper", "kelp", "lantern", "linden", "maple",
    "marble", "meadow", "mist", "moss", "nettle", "oak", "olive", "onyx", "otter", "pebble", "pine", "quartz",
    "reed", "rowan", "russet", "sable", "saffron", "slate", "sorrel", "spruce", "thistle", "umber", "violet",
    "walnut", "willow", "yarrow",
]  # fmt: skip


def bars() -> Iterator[str]:
    """Keras 2's bars, drawn over each other with carriage returns, epoch after epoch."""
    pictures = [
        f"{done:4d}/1000 [{'=' * (done * 29 // 1000)}>{'.' * (29 - done * 29 // 1000)}] - ETA: {60 - done // 17}s - "
        f"loss: {0.9 - done / 2000:.4f} - accuracy: {0.3 + done / 2000:.4f}"
        for done in range(1, 1000)
    ]
    drawn = "\r".join(pictures)
    for epoch in range(1, 1_000_000):
        done = f"1000/1000 [{'=' * 30}] - 61s 61ms/step - loss: {0.4 + 1 / epoch:.4f} - accuracy: 0.8000"
        yield f"Epoch {epoch}/1000000\n{drawn}\r{done}\n"


def warnings() -> Iterator[str]:
    """A loop's own lines, each with a warning or two of TensorFlow's beside it, the same ones again and again."""
    for block in range(1_000_000):
        lines = []
        for step in range(block * 500, block * 500 + 500):
            lines.append(f"INFO:root:step {step}: loss {1 / (1 + step % 97):.5f}, {step % 53 + 200} samples/s")
            clock = f"2025-03-04 05:{step // 60 % 60:02d}:{step % 60:02d}.{step % 1_000_000:06d}"
            where = f"tensorflow/core/kernels/data/cache_dataset_ops.cc:{854 + step % 3}"
            lines.append(f"{clock}: W {where}] The calling iterator did not fully read the dataset.")
            if step % 5 == 0:
                lines.append("WARNING:tensorflow:Layers in a Sequential model should only have a single input tensor.")
        yield "\n".join(lines) + "\n"


def prose() -> Iterator[str]:
    """No two lines have the same words."""
    choose = random.Random(20250304)
    heads = [" ".join(choose.choices(WORDS, k=6)) for _ in range(4000)]
    tails = [f" {' '.join(choose.choices(WORDS, k=6))}\n" for _ in range(4000)]
    for head in heads:
        yield head + head.join(tails)


KINDS: dict[str, Callable[[], Iterator[str]]] = {
    "bars with \\r": bars,
    "lines with repeated warnings": warnings,
    "prose, no two lines alike": prose,
}


def measure(quick: bool) -> dict[str, Any]:
    size, rounds = (30 * MB, 2) if quick else (SIZE, 5)
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="laststep-bench-") as home:
        for kind, texts in KINDS.items():
            large, small = Path(home, "train.log"), Path(home, "small.log")
            written = write_log(large, texts(), size)
            write_log(small, texts(), size // 100)
            _read(small)  # so that everything is compiled
            times = [_read(large) for _ in range(rounds)]
            found[kind] = {
                "bytes": written,
                "speed": figures.summary([written / MB / wall for wall, _, _ in times]),
                "cpu_speed": figures.summary([written / MB / cpu for _, cpu, _ in times]),
                "peak_mb": max(peak for _, _, peak in times),
                "small_peak_mb": _read(small)[2],
            }
    return found


def write_log(path: Path, texts: Iterator[str], size: int) -> int:
    """The texts up to that size, and a traceback as the end; how many bytes that is."""
    written = 0
    with open(path, "w", encoding="utf-8") as log:
        while written < size:
            written += log.write(next(texts))
        written += log.write(TRACEBACK)
    return written


def _read(path: Path) -> tuple[float, float, float]:
    """Seconds, seconds of processor time, and the most memory in MB."""
    command = [sys.executable, "-c", READ, str(path)]
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=True)
    seconds = time.perf_counter() - began
    if "KeyError" not in done.stdout:
        raise RuntimeError(f"the end of the log was not found:\n{done.stdout[-2000:]}")
    cpu, peak = done.stderr.split()
    return seconds, float(cpu), int(peak) * 1024 / MB


def rows(found: dict[str, Any]) -> list[Row]:
    table = []
    for kind, values in found.items():
        speed, by_cpu = values["speed"], values["cpu_speed"]["median"]
        table.append(
            Row(
                f"a log of {values['bytes'] / MB:.0f} MB, {kind}",
                f"{speed['median']:.0f} MB/s ± {speed['margin']:.0f}",
                f"IQR {speed['low']:.0f} … {speed['high']:.0f} MB/s, n={speed['rounds']}; by CPU time {by_cpu:.0f}",
                f"≥ {TARGET} MB/s",
                _fast(speed),
            )
        )
        more = values["peak_mb"] - values["small_peak_mb"]
        table.append(
            Row(
                f"its memory, {kind}",
                f"{values['peak_mb']:.0f} MB at most",
                f"{more:+.0f} MB against a hundredth of the log",
                f"≤ {MORE} MB more",
                more <= MORE,
            )
        )
    return table


def _fast(speed: dict[str, Any]) -> bool | None:
    if speed["median"] - speed["margin"] >= TARGET:
        return True
    return False if speed["median"] + speed["margin"] < TARGET else None
