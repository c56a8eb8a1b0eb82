"""The sdist and the wheel that is built from it hold all that is needed: installed alone, a demo is explained."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import laststep

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PACKAGE = Path(laststep.__file__).parent


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)], check=True, capture_output=True)
    return folder


def test_the_wheel_holds_every_module_and_nothing_else(dist: Path) -> None:
    [wheel] = dist.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    modules = {path.relative_to(PACKAGE.parent).as_posix() for path in PACKAGE.rglob("*.py")}
    assert names == modules | {"laststep/py.typed"}


def test_the_sdist_has_the_licence_and_no_tests(dist: Path) -> None:
    [sdist] = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md"} <= names
    assert not [name for name in names if name.startswith("tests/test_")]


def test_installed_alone_a_demo_is_explained(dist: Path, tmp_path: Path) -> None:
    """TensorFlow and the dependencies are lent by this environment: installing them takes a minute (make dist)."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    [packages] = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    [wheel] = dist.glob("*.whl")
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(packages), str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    lent = next(path for path in sys.path if path.endswith("site-packages"))
    (packages / "lent.pth").write_text(f"{lent}\n")
    python = tmp_path / "venv" / "bin" / "python"
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [python, "-m", "laststep", "demo", "early-stopping"]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=120)
    assert "EarlyStopping ended the training" in done.stderr
    assert "laststep explain early-stopping" in done.stderr
    assert str(packages) in subprocess.check_output(
        [python, "-c", "import laststep; print(laststep.__file__)"], cwd=tmp_path, env=environ, text=True
    )
