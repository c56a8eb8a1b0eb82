"""run a small broken training that ships with laststep, and explain it"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path

from laststep import demos
from laststep.settings import read_settings

EXAMPLES = ("laststep demo --list", "laststep demo early-stop-swallowed")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="the demo (default: the first of the list)")
    parser.add_argument("--list", action="store_true", help="list the demos")
    parser.add_argument("--dir", help="where to put the run folder")


def run(args: argparse.Namespace) -> int:
    known = {path.stem.replace("_", "-"): path for path in sorted(Path(demos.__path__[0]).glob("[!_]*.py"))}
    if args.list:
        for name, path in known.items():
            print(f"  {name:24} {_first_line(path)}")
        return 0
    name = args.name or next(iter(known))
    if name not in known:
        print(f"laststep: no demo {name}; the demos are {', '.join(known)}", file=sys.stderr)
        return 2
    if importlib.util.find_spec("tensorflow") is None:
        print("laststep: the demos need TensorFlow, which is not installed here", file=sys.stderr)
        return 2
    from laststep.commands.run import run_here

    print(f"# {_first_line(known[name])}\n$ laststep run python {known[name].name}", file=sys.stderr)
    return run_here([sys.executable, str(known[name])], read_settings({"dir": args.dir}))


def _first_line(path: Path) -> str:
    return path.read_text().splitlines()[0].strip('"').rstrip(".")
