"""The command line: find the verb's module, parse its arguments, print known errors as one line."""

# ruff: noqa: E402 - sys.path is changed before the imports that depend on it

from __future__ import annotations

import os
import sys

_as_module = os.path.dirname(sys.argv[0]) == os.path.dirname(__file__)  # python -m puts the working directory first
if _as_module or os.path.basename(sys.argv[0]) == "laststep":
    # In our own process the user's json.py or copy.py must not shadow the standard library.
    _user_paths = {*os.environ.get("PYTHONPATH", "").split(os.pathsep), *(sys.path[:1] if _as_module else [])}
    sys.path.sort(key=lambda entry: entry in _user_paths)

import argparse
import importlib
from typing import Any

import laststep
from laststep import commands
from laststep.reports.printing import make_output_safe

DESCRIPTION = """\
The flight recorder and the doctor for TensorFlow and Keras training.

  laststep run python train.py   run and record it; your code stays unchanged
  laststep why                   what happened to the last run, what to change
"""
RENAMED = {"probe": "tune"}


def main(argv: list[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    make_output_safe()
    if sys.platform == "win32":
        print("laststep: Windows is not supported yet", file=sys.stderr)
        return 2
    if argv and argv[0] in _verbs():
        return _run_verb(argv[0], argv[1:])
    parser = argparse.ArgumentParser(
        prog="laststep",
        usage="laststep VERB …",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"laststep {laststep.__version__}")
    verbs = "\n".join(f"  {name:9} {_module(name).__doc__}" for name in _verbs())
    parser.epilog = f"verbs (laststep VERB --help shows an example):\n{verbs}"
    parser.add_argument("verb", nargs="?", help=argparse.SUPPRESS)
    verb = parser.parse_args(argv[:1]).verb
    if verb is None:
        parser.print_help()
        return 0
    print(f"laststep: {_unknown(verb)}", file=sys.stderr)
    return 2


def _unknown(verb: str) -> str:
    if verb in RENAMED:
        return f"`laststep {verb}` is now `laststep {RENAMED[verb]}`"
    return f"unknown verb {verb}; the verbs are {', '.join(_verbs())}"


def _verbs() -> list[str]:
    names = os.listdir(commands.__path__[0])
    return sorted(name[:-3] for name in names if name.endswith(".py") and not name.startswith("_"))


def _module(name: str) -> Any:
    return importlib.import_module(f"laststep.commands.{name}")


def _run_verb(name: str, argv: list[str]) -> int:
    module = _module(name)
    parser = argparse.ArgumentParser(
        prog=f"laststep {name}",
        description=module.__doc__,
        epilog="example:\n" + "\n".join(f"  {line}" for line in module.EXAMPLES),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(parser)
    try:
        ours, command = module.split(argv) if hasattr(module, "split") else (argv, [])
        return int(module.run(parser.parse_args(ours, argparse.Namespace(command=command))))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except _known_errors() as error:
        print(f"laststep: {' '.join(str(error).splitlines())}", file=sys.stderr)
        return 2


def _known_errors() -> tuple[type[Exception], ...]:
    """What the user can act on; anything else is a bug of ours and shows its traceback."""
    from laststep.logs.line_reader import NotALog
    from laststep.record.folder import NoSuchRun
    from laststep.record.run import DamagedRun
    from laststep.settings import BadSetting
    from laststep.supervisor.target import CannotAttach

    return (CannotAttach, NoSuchRun, DamagedRun, BadSetting, NotALog, OSError)
