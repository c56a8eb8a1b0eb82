"""If the program has a file named like a standard module that we loaded, the program must find its own file."""

from __future__ import annotations

import os
import sys
from importlib.machinery import all_suffixes

OPTIONS_WITH_VALUE = ("W", "X", "Q")  # options of Python whose value may be the next word
LAST_OPTIONS = ("c", "m")  # after these, the rest is the program's


def forget_shadowed_modules(loaded_before: set[str], path: list[str]) -> None:
    """Unload the modules that only we have loaded and that the program would find elsewhere."""
    ours = {name.partition(".")[0] for name in set(sys.modules) - loaded_before}
    ours -= {"laststep", "sitecustomize", *loaded_before, *sys.builtin_module_names}
    home = os.path.dirname(os.__file__)
    places = first_entry(sys.orig_argv[1:]) + (path[: path.index(home)] if home in path else [])
    for name in ours:
        if any(_has_module(place, name) for place in places):
            for submodule in [key for key in sys.modules if key == name or key.startswith(name + ".")]:
                del sys.modules[submodule]


def _has_module(place: str, name: str) -> bool:
    base = os.path.join(place, name)
    return any(
        os.path.isfile(base + end) or os.path.isfile(os.path.join(base, "__init__" + end)) for end in all_suffixes()
    )


def first_entry(words: list[str]) -> list[str]:
    """What Python is about to insert first into sys.path: the script's folder or the working directory."""
    if getattr(sys.flags, "safe_path", False) or sys.flags.isolated:
        return []
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in ("-", "--"):
        word = words[at]
        at += 1
        if word.startswith("--"):
            at += 1 if word == "--check-hash-based-pycs" else 0
            continue
        letter = next((letter for letter in word[1:] if letter in OPTIONS_WITH_VALUE + LAST_OPTIONS), "")
        if letter in LAST_OPTIONS and letter:
            return [os.getcwd()]
        at += 1 if letter and word.endswith(letter) else 0
    at += words[at : at + 1] == ["--"]
    if at >= len(words) or words[at] == "-":
        return [os.getcwd()]
    script = os.path.realpath(words[at])
    return [script if os.path.isdir(script) else os.path.dirname(script)]
