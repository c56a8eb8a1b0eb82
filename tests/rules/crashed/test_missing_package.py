"""missing-package: what pip calls it, for which Python, and what is no package at all."""

from __future__ import annotations

import pytest

from laststep.analysis.finding import Confidence
from laststep.record.run import Run
from laststep.rules.diagnose import diagnose
from tests.rules.crashed.ended import ended, raised, says
from tests.written import written

HERE = written(0.2, "recorder", {"pid": 7, "python": "3.11.7 (main)", "executable": "/opt/my env/bin/python"})


@pytest.mark.parametrize(
    ("module", "package"),
    [("cv2", "opencv-python"), ("sklearn", "scikit-learn"), ("PIL", "pillow"), ("yaml", "PyYAML"), ("tqdm", "tqdm"),
     ("tensorflow_datasets", "tensorflow-datasets"), ("tf_keras", "tf_keras"), ("absl", "absl-py")],
)  # fmt: skip
def test_the_package_is_named_as_pip_knows_it(module: str, package: str) -> None:
    diagnosis = ended(HERE, raised("ModuleNotFoundError", f"No module named '{module}'"))
    first = diagnosis.findings[0]
    assert (first.rule, first.confidence) == ("missing-package", Confidence.CERTAIN)
    assert first.remedies[0].change == f"'/opt/my env/bin/python' -m pip install {package}"
    assert "the Python that ran it: /opt/my env/bin/python (3.11.7)" in says(diagnosis)


def test_of_an_unknown_module_nothing_is_installed() -> None:
    first = ended(HERE, raised("ModuleNotFoundError", "No module named 'churn_features'")).findings[0]
    assert first.rule == "missing-package"
    assert [remedy.change for remedy in first.remedies] == [None, None]
    assert "a file of your own" in first.remedies[0].does


def test_a_file_that_hides_the_package() -> None:
    first = ended(raised("ModuleNotFoundError", "No module named 'keras.layers'; 'keras' is not a package")).findings[0]
    assert (first.rule, first.confidence) == ("missing-package", Confidence.LIKELY)
    assert first.cause == "Another file named keras.py is imported instead of the package keras."


def test_a_part_of_an_installed_package_is_about_versions() -> None:
    diagnosis = ended(raised("ModuleNotFoundError", "No module named 'sklearn.externals'"))
    assert [finding.rule for finding in diagnosis.findings] == ["library-incompatible", "unhandled-exception"]


def test_a_module_that_was_asked_to_run() -> None:
    began = written(0.0, "run", {"command": ["python", "-m", "trian"], "cwd": "/home/anna"})
    left = written(1.0, "exit-call", {"how": "sys.exit", "message": "/usr/bin/python: No module named trian"})
    end = written(9.0, "end", {"code": 1, "pid": 7, "seconds": 9.0})
    first = diagnose(Run(id="r", events=(began, HERE, left, end))).findings[0]
    assert (first.rule, first.cause) == ("missing-package", "Python has no module trian to run: nothing was started.")
