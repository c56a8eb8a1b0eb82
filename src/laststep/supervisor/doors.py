"""Why the recorder was not loaded into a program, as far as its command shows it, and what to type instead."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

from laststep.record.events.supervisor import RecorderMissing
from laststep.record.reading import read_plain

REFUSED = "refused"  # the file in which a Python that starts says why it does not record
MAX_REFUSED_BYTES = 300
MAX_SHEBANG_BYTES = 256
LOADED_BY_PATH = "ignores PYTHONPATH, through which laststep is loaded"
CLOSING = {"I": LOADED_BY_PATH, "E": LOADED_BY_PATH, "S": "does not import site, through which laststep is loaded"}
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*t?$")
_LONG_WITH_VALUE = "--check-hash-based-pycs"
_CONTAINER = ("starts the program in a container, where the recorder is not", "Install laststep in the image and run")
_JOB = ("hands the job to a batch system and returns", "Put `laststep run` into the job script:")
_HOST = ("starts the program on another machine", "Install laststep there and run")
# Commands that start the program where our environment does not reach: (why, what to do).
ELSEWHERE = {
    "sudo": ("does not pass PYTHONPATH on, through which laststep is loaded", "Start laststep under sudo:"),
    **dict.fromkeys(("docker", "podman", "nerdctl", "singularity", "apptainer", "kubectl"), _CONTAINER),
    **dict.fromkeys(("sbatch", "qsub", "bsub", "condor_submit"), _JOB),
    "ssh": _HOST,
}


def closed_door(command: list[str], folder: Path, children: Iterable[list[str]] = ()) -> RecorderMissing:
    """Why nothing was recorded from inside; `children` had TensorFlow loaded."""
    refused = read_plain(folder / REFUSED, MAX_REFUSED_BYTES).decode("utf-8", "replace").strip()
    if refused:
        because, _, does = refused.partition("\n")
        return RecorderMissing(because=because, does=does)
    for words in (command, *children):
        found = _outside(words) or _option(words) or _option(_with_shebang(words))
        if found is not None:
            return found
    name = os.path.basename(command[0])
    if any(map(_is_python, command)):
        return RecorderMissing(because="the program's Python did not load the recorder")
    does = f"Put `laststep run` in front of the Python command that trains, in {name} or what it runs"
    because = f"{name} started no Python that could load the recorder"
    return RecorderMissing(because=because, does=does, instead="laststep run python train.py")


def _is_python(word: str) -> bool:
    return bool(_PYTHON.match(os.path.basename(word)))


def _outside(words: list[str]) -> RecorderMissing | None:
    """A command before the Python, or in place of it, that leads out of our environment."""
    at = next((at for at, word in enumerate(words) if _is_python(word)), len(words))
    before, program = words[:at], words[at:] or ["python", "train.py"]
    for word in map(os.path.basename, before if at < len(words) else words[:1]):
        if word in ELSEWHERE:
            why, does = ELSEWHERE[word]
            first = [] if ELSEWHERE[word] is _JOB or at == len(words) else before
            return RecorderMissing(
                because=f"{word} {why}", does=does, instead=_line(first, program, by_path=word == "sudo")
            )
    if before and os.path.basename(before[0]) == "env" and {"-i", "-", "--ignore-environment"} & set(before):
        because = "env -i empties the environment, through which laststep is loaded"
        return RecorderMissing(
            because=because, does="Start laststep under it:", instead=_line(before, program, by_path=True)
        )
    return None


def _option(words: list[str]) -> RecorderMissing | None:
    """An option of Python that keeps the recorder out."""
    at = next((at for at, word in enumerate(words) if _is_python(word)), None)
    closing = _closing(words[at:]) if at is not None else {}
    if not closing or at is None:
        return None
    option = next(iter(closing))
    because = f"python {words[at + option]} {CLOSING[closing[option]]}"
    kept = [_without(word) if n in closing else word for n, word in enumerate(words[at:])]
    kept = [word for n, word in enumerate(kept) if n not in closing or word != "-"]
    return RecorderMissing(because=because, does="Leave the option out", instead=_line([], [*words[:at], *kept]))


def _line(before: list[str], program: list[str], by_path: bool = False) -> str:
    """The line to type; by its path where PATH may be another one there."""
    laststep = '"$(command -v laststep)"' if by_path else "laststep"
    return " ".join(filter(None, [shlex.join(before), laststep, "run", shlex.join(program)]))


def _closing(words: list[str]) -> dict[int, str]:
    """The positions of Python's options that keep the recorder out, and the letter in each that does."""
    found, at = {}, 1
    while at < len(words) and words[at].startswith("-") and words[at] not in ("-", "--"):
        word, here = words[at], at
        at += 2 if word == _LONG_WITH_VALUE or re.fullmatch(r"-[a-zA-Z]*?[WX]", word) else 1
        letters = "" if word.startswith("--") else re.split(r"[WXcm]", word[1:])[0]
        closing = next((letter for letter in letters if letter in CLOSING), None)
        if closing is not None:
            found[here] = closing
        if re.match(r"-[a-zA-Z]*[cm]", word) and not word.startswith("--"):
            break
    return found


def _without(word: str) -> str:
    """-Im → -m, -I → -"""
    letters = re.match(r"-[^WXcm]*", word)
    assert letters is not None
    kept = "".join(letter for letter in letters[0] if letter not in CLOSING)
    return kept + word[letters.end() :]


def _with_shebang(words: list[str]) -> list[str]:
    """A script with its interpreter in front, as the kernel starts it."""
    first = read_plain(words[0], MAX_SHEBANG_BYTES).partition(b"\n")[0] if os.sep in words[0] else b""
    return [*first[2:].decode("utf-8", "replace").split(), *words] if first.startswith(b"#!") else words
