"""What the recorder loads, opens and starts in the program's process does not interfere with the program."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # many processes
PYTHON = sys.executable
LASTSTEP = [str(Path(PYTHON).with_name("laststep")), "run", "--quiet"]  # `-m` would put the folder on our own path
# Any others, all at once, break a Python without us, too.
LIKELY_NAMES = {"ast", "bisect", "copy", "dataclasses", "dis", "fcntl", "fnmatch", "inspect", "json", "linecache"}
LIKELY_NAMES |= {"mmap", "opcode", "random", "resource", "shutil", "signal", "tempfile", "token", "tokenize"}


def both(folder: Path, *words: str, **environment: str) -> list[tuple[bytes, bytes, int]]:
    """The same program without and with recording: stdout, stderr, status."""
    environ = {**os.environ, "LASTSTEP_DIR": str(folder / "runs"), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    ended = [
        subprocess.run([*prefix, PYTHON, *words], capture_output=True, cwd=folder, env=environ, timeout=60)
        for prefix in ([], LASTSTEP)
    ]
    return [(one.stdout, one.stderr, one.returncode) for one in ended]


def loaded_by_us(folder: Path) -> list[str]:
    bare, recorded = (set(ast.literal_eval(out.decode())) for out, _, _ in both(folder, "-c", LIST))
    added = {name.partition(".")[0] for name in recorded - bare}
    return sorted(added - {"laststep", "sitecustomize", *sys.builtin_module_names})


LIST = "import sys; print(sorted(sys.modules))"
IMPORT_ALL = """
import sys
for name in {names}:
    module = __import__(name)
    print(name, getattr(module, "MINE", "standard"))
raise SystemExit(3)
"""


@pytest.mark.parametrize("way", ["script", "-c", "-m", "PYTHONPATH", "folder"])
def test_a_local_file_comes_before_a_standard_module_that_we_loaded(tmp_path: Path, way: str) -> None:
    names = sorted(LIKELY_NAMES.intersection(loaded_by_us(tmp_path)))
    assert {"json", "mmap", "resource"} <= set(names)
    (tmp_path / "own").mkdir()
    place = tmp_path if way in ("-c", "-m") else tmp_path / "own"
    for name in names:
        (place / f"{name}.py").write_text("MINE = 'local'\n")
    (place / ("__main__.py" if way == "folder" else "program.py")).write_text(IMPORT_ALL.format(names=names))
    elsewhere = tmp_path / "program.py"
    elsewhere.write_text(IMPORT_ALL.format(names=names))
    words = {
        "script": ["-u", "-W", "ignore", "own/program.py"],
        "-c": ["-c", IMPORT_ALL.format(names=names)],
        "-m": ["-um", "program"],
        "PYTHONPATH": ["program.py"],
        "folder": ["own"],
    }[way]
    environment = {"PYTHONPATH": str(place)} if way == "PYTHONPATH" else {}
    bare, recorded = both(tmp_path, *words, **environment)
    assert bare[0].decode().split("\n")[:-1] == [f"{name} local" for name in names]
    assert recorded == bare
    assert any((tmp_path / "runs").glob("*/recorder.*.jsonl"))  # and it was still recorded


def test_each_module_that_we_load_may_be_a_file_of_the_program(tmp_path: Path) -> None:
    names = loaded_by_us(tmp_path)
    assert len(names) > 10
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda name: _imported(tmp_path / name, name), names))
    assert [(name, recorded) for name, (_, recorded) in zip(names, answers, strict=True)] == [
        (name, bare) for name, (bare, _) in zip(names, answers, strict=True)
    ]


def _imported(folder: Path, name: str) -> list[tuple[bytes, bytes, int]]:
    folder.mkdir()
    (folder / f"{name}.py").write_text("MINE = 'local'\n")
    (folder / "program.py").write_text(IMPORT_ALL.format(names=[name]))
    return both(folder, "program.py")


def test_without_a_local_file_there_is_one_copy_of_each_module(tmp_path: Path) -> None:
    code = "import sys, json\nprint(sys.modules['laststep.record.journal'].json is json)"
    assert both(tmp_path, "-c", code)[1][0] == b"True\n"


def test_a_patched_function_can_be_pickled(tmp_path: Path) -> None:
    code = (
        "import os, pickle, signal, sys\n"
        "for f in (os.kill, os.killpg, os._exit, os.abort, os.execv, signal.raise_signal, sys.exit):\n"
        "    print(pickle.dumps(f)); assert pickle.loads(pickle.dumps(f)) is f\n"
    )
    bare, recorded = both(tmp_path, "-c", code)
    assert recorded == bare
    assert bare[2] == 0


def test_descriptors_after_a_step_are_those_of_a_bare_run(tmp_path: Path) -> None:
    code = (
        "import laststep, os\nlaststep.step(1.0)\n"
        "print([os.open('/dev/null', 0) for _ in range(5)], [n for n in os.listdir('/proc/self/fd') if int(n) < 200])\n"
    )
    bare, recorded = both(tmp_path, "-c", code)
    assert recorded == bare


def test_a_fork_after_a_step_gives_no_warning_and_the_child_ends_at_once(tmp_path: Path) -> None:
    """Python 3.12 warns about a fork if there is more than one thread."""
    code = (
        "import laststep, os, sys, time\nlaststep.step(1.0)\n"
        "for i in range(3):\n"
        "    pid = os.fork()\n"
        "    if pid == 0: sys.exit(4)\n"
        "    began = time.time()\n"
        "    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), time.time() - began < 0.7)\n"
        "    laststep.step(1.0)\n"
    )
    bare, recorded = both(tmp_path, "-W", "always", "-c", code)
    assert recorded == bare == (b"4 True\n" * 3, b"", 0)


def test_wait_finds_no_child_of_ours(tmp_path: Path) -> None:
    code = "import laststep, os\nlaststep.start()\ntry: print(os.wait())\nexcept ChildProcessError: print('none')\n"
    environ = {**os.environ, "LASTSTEP_DIR": str(tmp_path / "runs")}
    ended = subprocess.run([PYTHON, "-c", code], capture_output=True, cwd=tmp_path, env=environ, timeout=20)
    assert ended.stdout == b"none\n"
