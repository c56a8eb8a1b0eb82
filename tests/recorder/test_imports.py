"""Nothing of ours but the standard library enters the training process, and nothing comes before the host's own."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import laststep

PACKAGE = Path(laststep.__file__).parent
READING = {"run.py", "decode.py", "event.py", "place.py", "sample.py"}  # of the record, for those who read it
INSIDE = [
    *PACKAGE.glob("recorder/**/*.py"),
    *(path for path in PACKAGE.glob("record/*.py") if path.name not in READING),
]


@pytest.mark.parametrize("path", INSIDE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_are_standard_library_or_inside(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            top = name.split(".")[0]
            inside = name.startswith(("laststep.recorder", "laststep.record")) or name == "laststep.settings"
            assert top in sys.stdlib_module_names or name == "sitecustomize" or inside, f"{path.name} imports {name}"


def test_the_package_itself_imports_nothing_until_it_is_called() -> None:
    """`laststep.why()` then gets rules and reports."""
    statements = ast.parse((PACKAGE / "__init__.py").read_text()).body
    imports = [node for node in statements if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert [node.module for node in imports if isinstance(node, ast.ImportFrom)] == ["__future__", "typing"]
    assert len(imports) == 2


def test_a_recorded_program_has_only_standard_library_modules_more(tmp_path: Path) -> None:
    code = "import sys; print('\\n'.join(sorted(m for m in sys.modules)))"
    command = [sys.executable, "-c", code]
    bare = set(subprocess.check_output(command, text=True, cwd=tmp_path).split())
    run = [sys.executable, "-m", "laststep", "run", "--quiet", *command]
    recorded = set(subprocess.check_output(run, text=True, cwd=tmp_path).split())
    more = {name.split(".")[0] for name in recorded - bare}
    assert "laststep" in more
    assert more - {"laststep", "sitecustomize"} <= set(sys.stdlib_module_names)
    rooms = {name.split(".")[1] for name in recorded if name.startswith("laststep.")}
    assert rooms == {"recorder", "record"}
    assert not {f"laststep.record.{path[:-3]}" for path in READING} & recorded
    assert "laststep.record.events" not in recorded


def test_laststep_asks_for_no_package_that_tensorflow_pins() -> None:
    """psutil and nvidia-ml-py are pinned by no package: installing laststep changes no package of TensorFlow."""
    pinned = set()
    for name in ("tensorflow-cpu", "keras", "tf_keras"):
        for line in metadata.requires(name) or []:
            if "extra ==" not in line:
                pinned.add(line.split(";")[0].strip().split(" ")[0].split("<")[0].split(">")[0].split("=")[0].lower())
    ours = {
        line.split(">")[0].split(";")[0].strip().lower()
        for line in metadata.requires("laststep") or []
        if "extra" not in line
    }
    assert ours & pinned == set()
    assert "numpy" in pinned, "the list of pins was read"


def test_probe_is_told_when_the_module_is_ready_and_the_loader_is_clean_again(tmp_path: Path) -> None:
    (tmp_path / "host_module.py").write_text("value = 41\n")
    code = (
        "import sys\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "from laststep.recorder.imports import when_imported\n"
        "seen = []\n"
        "when_imported('p', 'host_module', lambda module: seen.append(module.value))\n"
        "assert 'host_module' not in sys.modules\n"
        "import host_module\n"
        "assert seen == [41]\n"
        "assert 'exec_module' not in vars(host_module.__loader__)\n"
        "assert type(host_module.__spec__.loader).__name__ == 'SourceFileLoader'\n"
        "import importlib; importlib.reload(host_module)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)


def test_an_import_error_of_the_host_shows_no_frame_of_ours(tmp_path: Path) -> None:
    (tmp_path / "keras").mkdir()
    (tmp_path / "keras" / "__init__.py").write_text("")
    nested = tmp_path / "keras" / "src" / "callbacks"
    nested.mkdir(parents=True)
    for folder in (nested, nested.parent):
        (folder / "__init__.py").write_text("")
    (nested / "callback_list.py").write_text("raise RuntimeError('broken install')\n")
    command = [sys.executable, "-c", "import keras.src.callbacks.callback_list"]
    bare = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    with_laststep = subprocess.run(
        [sys.executable, "-m", "laststep", "run", "--quiet", *command], capture_output=True, text=True, cwd=tmp_path
    )
    assert with_laststep.stderr == bare.stderr
    assert "broken install" in bare.stderr
