"""Keras's own callback and trainer tests, as shipped in its wheel, have the same results with and without laststep."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

# Missing in the wheel: Keras's conftest, and JAX, which one test module imports.
CONFTEST = """
import keras, pytest

def skip_if_backend(given, reason):
    return pytest.mark.skipif(keras.backend.backend() == given, reason=reason)

def pytest_configure(config):
    for name in ("requires_trainable_backend", "multi_device"):
        config.addinivalue_line("markers", name)
"""
JAX = "class monitoring:\n    record_scalar = staticmethod(lambda *args, **kwargs: None)\n"
# orbax, tensorboard's plugins and JAX data are not installed: those tests fail either way, and take minutes.
LEFT_OUT = "not orbax and not TestTensorBoardCallback and not jax"


def outcomes(report: Path) -> dict[str, str]:
    found = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        kind = next((child.tag for child in case if child.tag in ("failure", "error", "skipped")), "passed")
        found[f"{case.get('classname')}::{case.get('name')}"] = kind
    return found


def run_keras_tests(folder: Path, name: str, before: list[str], tests: list[Path]) -> dict[str, str]:
    shim = folder / "shim"
    shim.mkdir(exist_ok=True)
    (shim / "conftest.py").write_text(CONFTEST)
    (shim / "jax.py").write_text(JAX)
    environ = {**os.environ, "PYTHONPATH": str(shim), "KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3"}
    report = folder / f"{name}.xml"
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-p",
        "conftest",
        "-k",
        LEFT_OUT,
        f"--junitxml={report}",
    ]
    command = [*before, sys.executable, "-m", "pytest", *options, *map(str, tests)]
    subprocess.run(command, cwd=folder, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=1500)
    return outcomes(report)


@pytest.mark.timeout(3000)
@pytest.mark.parametrize("which", ["callbacks", pytest.param("trainers", marks=pytest.mark.all)])
def test_keras_gives_the_same_results(tmp_path: Path, which: str) -> None:
    import importlib.util

    spec = importlib.util.find_spec("keras")
    assert spec is not None
    assert spec.origin is not None
    source = Path(spec.origin).parent / "src"
    tests = {
        "callbacks": sorted((source / "callbacks").glob("*_test.py")),
        "trainers": [source / "trainers" / name for name in ("trainer_test.py", "epoch_iterator_test.py")],
    }[which]
    bare = run_keras_tests(tmp_path, "bare", [], tests)
    recorded = run_keras_tests(tmp_path, "recorded", [sys.executable, "-m", "laststep", "run", "--quiet"], tests)
    assert sum(kind == "passed" for kind in bare.values()) > 40, "Keras's tests ran"
    assert recorded == bare
