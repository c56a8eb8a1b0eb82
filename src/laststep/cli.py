"""The command line: find the verb's file, let it read its own arguments, turn known errors into one line."""

# ruff: noqa: E402 - our own path comes before all that is found on it

from __future__ import annotations

import os
import sys

_as_module = os.path.dirname(sys.argv[0]) == os.path.dirname(__file__)  # python -m puts the working directory first
if _as_module or os.path.basename(sys.argv[0]) == "laststep":
    # Our own process, at its start: files of the program's that are called json.py or copy.py are for the program.
    _theirs = {*os.environ.get("PYTHONPATH", "").split(os.pathsep), *(sys.path[:1] if _as_module else [])}
    sys.path.sort(key=lambda entry: entry in _theirs)

import argparse
import importlib
from typing import Any

import laststep
from laststep import commands
from laststep.reports.printing import make_output_safe

DESCRIPTION = """\
The flight recorder and the doctor for TensorFlow and Keras training.

  laststep run python train.py   run it, recorded; your code stays as it is
  laststep why                   what happened to the last run, what to change
"""


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
    asked = parser.parse_args(argv[:1])
    if asked.verb is None:
        parser.print_help()
        return 0
    print(f"laststep: no such verb: {asked.verb}; there are {', '.join(_verbs())}", file=sys.stderr)
    return 2


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
    """What the user can do something about; anything else is a bug of ours and shows itself."""
    from laststep.logs.line_reader import NotALog
    from laststep.record.folder import NoSuchRun
    from laststep.record.run import DamagedRun
    from laststep.settings import BadSetting
    from laststep.supervisor.target import CannotAttach

    return (CannotAttach, NoSuchRun, DamagedRun, BadSetting, NotALog, OSError)
