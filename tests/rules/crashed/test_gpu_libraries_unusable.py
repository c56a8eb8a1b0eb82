"""gpu-libraries-unusable: the line that names both versions of cuDNN is evidence, also where the error names none."""

from __future__ import annotations

from tests.logs.printed import OPEN_EPOCH, TENSORFLOW_STARTS, answer

LOADED = (
    "E0000 00:00:1741242567.262839  263744 cuda_dnn.cc:522] Loaded runtime CuDNN library: 9.1.0 but source was "
    "compiled with: 9.3.0.  CuDNN library needs to have matching major version and equal or higher minor version.\n"
)
RAISED = (
    "Traceback (most recent call last):\n"
    '  File "/home/anna/train.py", line 31, in <module>\n'
    "    model.fit(x, y)\n"
    "tensorflow.python.framework.errors_impl.FailedPreconditionError: Graph execution error:\n\n"
    "DNN library initialization failed. Look at the errors above for more details. [Op:__inference_step_1]\n"
)


def test_both_versions_are_named_and_the_line_is_shown() -> None:
    finding = answer(TENSORFLOW_STARTS + "Epoch 1/9\n" + LOADED + RAISED).findings[0]
    assert finding.rule == "gpu-libraries-unusable"
    assert finding.cause == "cuDNN 9.1.0 was loaded, but TensorFlow was built for 9.3.0."
    assert any("Loaded runtime CuDNN library: 9.1.0" in item.says for item in finding.evidence)
    assert any("DNN library initialization failed" in item.says for item in finding.evidence)


def test_the_error_alone_names_no_version() -> None:
    finding = answer(TENSORFLOW_STARTS + OPEN_EPOCH + RAISED).findings[0]
    assert finding.rule == "gpu-libraries-unusable"
    assert "cuDNN" not in finding.cause
