"""Ways to spoil a run folder, a log or a profile: each takes a random generator and changes what is there."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

EVIL = "\x1b]0;pwned\x07\x1b[2J\x9b31m\x08\u202e\u2066\u200f\u2028\r\udcff%s{0}\n"
CANARY = "the-canary-that-must-not-sing"
STRANGE: tuple[Any, ...] = (
    *(None, True, "", EVIL, "x" * 5000, 0, -1, 1, -(10**18), 10**400, 2**63, 1e308, -1e308, 4e9, -86400.0, 0.5),
    *([], {}, [[]], [None], {"": None}, {"x": EVIL}, [EVIL] * 3, [1, "a", None, {}], "nan", "1e999", "/etc/passwd"),
    *(float("nan"), float("inf"), float("-inf")),
)
Mutator = Callable[[random.Random, Path], None]


def mutated_bytes(rng: random.Random, content: bytes) -> bytes:
    """Bytes flipped, cut out, doubled, or put in."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 3, 30))):
        at = rng.randrange(len(data) + 1)
        how = rng.randrange(5)
        if how == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            del data[at : at + rng.randrange(1, 200)]
        elif how == 2:
            data[at:at] = data[at : at + rng.randrange(1, 2000)]
        elif how == 3:
            evil = EVIL.encode("utf-8", "surrogatepass")
            data[at:at] = rng.choice((b"\0" * 50, b"\xff\xfe", evil, b"\n", b"{", b'"'))
        else:
            data[at:at] = rng.randbytes(rng.randrange(1, 60))
    return bytes(data)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def spoil_bytes(rng: random.Random, folder: Path) -> None:
    path = rng.choice(_files(folder))
    path.write_bytes(mutated_bytes(rng, path.read_bytes()))


def cut(rng: random.Random, folder: Path) -> None:
    path = rng.choice(_files(folder))
    os.truncate(path, rng.randrange(path.stat().st_size + 1))


def spoil_fields(rng: random.Random, folder: Path) -> None:
    """Fields of wrong types, huge numbers, control characters, times far off."""
    path = rng.choice([path for path in _files(folder) if path.suffix == ".jsonl"])
    lines = path.read_bytes().replace(b"\0", b"").split(b"\n")
    for _ in range(rng.choice((1, 1, 5, 50))):
        at = rng.randrange(len(lines))
        try:
            record = json.loads(lines[at])
        except (ValueError, RecursionError):
            continue
        _spoil(rng, record)
        lines[at] = json.dumps(record).encode()
    path.write_bytes(b"\n".join(lines))


def _spoil(rng: random.Random, value: Any) -> None:
    while isinstance(value, (dict, list)) and value:
        key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        if rng.random() < 0.4 or not isinstance(value[key], (dict, list)) or not value[key]:
            value[key] = rng.choice(STRANGE)
            return
        value = value[key]


def poison(rng: random.Random, folder: Path) -> None:
    """Control and bidi characters in a third of all texts of a journal: names, paths, messages, lines of source."""
    path = rng.choice([path for path in _files(folder) if path.suffix == ".jsonl"])
    lines = []
    for line in path.read_bytes().replace(b"\0", b"").split(b"\n"):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict) and "data" in record:
            record["data"] = _poisoned(rng, record["data"])
        lines.append(json.dumps(record).encode())
    path.write_bytes(b"\n".join(lines) + b"\n")


def _poisoned(rng: random.Random, value: Any) -> Any:
    if isinstance(value, str):
        return value + EVIL if rng.random() < 0.3 else value
    if isinstance(value, dict):
        return {name: _poisoned(rng, item) for name, item in value.items()}
    return [_poisoned(rng, item) for item in value] if isinstance(value, list) else value


def nest(rng: random.Random, folder: Path) -> None:
    path = rng.choice([path for path in _files(folder) if path.suffix == ".jsonl"])
    depth = rng.choice((50, 900, 5000))
    with open(path, "ab") as file:
        file.write(b'\n{"t":5.0,"kind":"fit","data":{"a":' + b"[" * depth + b"]" * depth + b"}}\n")


def repeat(rng: random.Random, folder: Path) -> None:
    """The same lines over and over."""
    path = rng.choice([path for path in _files(folder) if path.suffix == ".jsonl"])
    lines = path.read_bytes().split(b"\n")
    chosen = rng.sample(lines, min(len(lines), rng.choice((1, 5, 20))))
    with open(path, "ab") as file:
        file.write(b"\n" + (b"\n".join(chosen) + b"\n") * rng.choice((10, 300, 2000)))


def replace(rng: random.Random, folder: Path) -> None:
    """A link, a pipe, a device, a folder in place of a file."""
    path = rng.choice(_files(folder))
    path.unlink()
    how = rng.randrange(5)
    if how == 0:
        path.symlink_to(folder.parent / "canary")
    elif how == 1:
        os.mkfifo(path)
    elif how == 2:
        path.symlink_to(rng.choice(("/dev/zero", "/dev/stdin", "/proc/self/mem", path.name)))
    elif how == 3:
        path.mkdir()


def add(rng: random.Random, folder: Path) -> None:
    """Files that were not there, by names that are read."""
    known = ("steps.7", "steps.8-2", "recorder.7.jsonl", "faults", "stacks", "console.old", "proofs.jsonl", "recorded")
    name = rng.choice(known)
    (folder / name).unlink(missing_ok=True) if not (folder / name).is_dir() else None
    if rng.random() < 0.3:
        os.mkfifo(folder / name)
    elif rng.random() < 0.3:
        (folder / name).symlink_to(folder.parent / "canary")
    elif not (folder / name).exists():
        (folder / name).write_bytes(rng.randbytes(rng.choice((0, 10, 10_000))))


def lose(rng: random.Random, folder: Path) -> None:
    rng.choice(_files(folder)).unlink()


MUTATORS: tuple[Mutator, ...] = (
    *(spoil_bytes, cut, spoil_fields, spoil_fields, spoil_fields, poison, poison),
    *(nest, repeat, replace, add, lose),
)


def spoil(rng: random.Random, folder: Path) -> list[str]:
    """One to four of them; their names."""
    names = []
    for _ in range(rng.randrange(1, 5)):
        mutator = rng.choice(MUTATORS)
        try:
            mutator(rng, folder)
        except (IndexError, FileExistsError, IsADirectoryError, RecursionError):
            continue  # nothing left to spoil in this way
        names.append(mutator.__name__)
    return names
