"""corrupt-record: which record it is, and a damaged checkpoint is called a checkpoint, by its name."""

from __future__ import annotations

import pytest

from laststep.analysis.finding import Confidence, Finding
from laststep.record.steps import Step
from tests.logs.printed import answer
from tests.recordings import Recordings
from tests.rules.runs import diagnosed, error, fit, says

RECORDED = {
    "corrupt_record__backup": ("The backup in backup is damaged: backup/latest.weights.h5", "rm -r backup"),
    "corrupt_record__checkpoint": ("The checkpoint ckpts/run-1 is damaged", "all_model_checkpoint_paths"),
    "corrupt_record__checkpoint_index": ("The checkpoint ckpts/ckpt-3 is damaged", "all_model_checkpoint_paths"),
    "corrupt_record__model": ("The checkpoint last.keras is damaged", "Restore an earlier one"),
    "corrupt_record__weights": ("The checkpoint pretrained.weights.h5 is damaged", "Restore an earlier one"),
}


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_run_names_it(name: str, recordings: Recordings) -> None:
    cause, remedy = RECORDED[name]
    finding = recordings.answer(name).why["findings"][0]
    assert finding["cause"].startswith(cause)
    assert any(remedy in f"{item['does']} {item['change']}" for item in finding["remedies"])


def raised(line: str, error: str, *library: str) -> Finding:
    """What a log says whose traceback ends like this."""
    frames = "".join(f'  File "/usr/lib/python3/site-packages/{frame}\n    …\n' for frame in library)
    log = f'Traceback (most recent call last):\n  File "train.py", line 7, in <module>\n    {line}\n{frames}{error}\n'
    return answer(log).findings[0]


TABLE = 'tensorflow/python/training/py_checkpoint_reader.py", line 99, in NewCheckpointReader'
BUNDLE = (
    "tensorflow.python.framework.errors_impl.DataLossError: {{function_node __wrapped__RestoreV2_dtypes_6}} "
    "TensorBundle at ckpts/ckpt-1 shard 0 (1024 bytes): Checksum does not match: stored 1 vs. calculated on the "
    "restored bytes 2 [Op:RestoreV2]"
)
OLD = (
    "tensorflow.python.framework.errors_impl.DataLossError: Unable to open table file ./model/best.ckpt: Data loss: "
    "not an sstable (bad magic number): perhaps your file is in a different file format and you need to use a "
    "different restore operator?"
)
HDF5 = "OSError: Unable to synchronously open file (truncated file: eof = 12116, stored_eof = 24232)"
LOGS = {
    "a shard": (raised("ckpt.restore(path)", BUNDLE), "ckpts/ckpt-1"),
    "a table": (raised("saver.restore(sess, path)", OLD), "./model/best.ckpt"),
    "weights": (
        raised('model.load_weights("w.weights.h5")', HDF5, 'h5py/_hl/files.py", line 9, in __init__'),
        "w.weights",
    ),
    "a cut shard": (raised("resume()", "IndexError: Read less bytes than requested", TABLE), "that was being loaded"),
}


@pytest.mark.parametrize(("finding", "name"), LOGS.values(), ids=LOGS)
def test_a_bare_log_names_it(finding: Finding, name: str) -> None:
    assert finding.rule == "corrupt-record"
    assert finding.cause.startswith(f"The checkpoint {name}")
    assert "TFRecordDataset" not in str(finding.remedies)


def test_data_is_still_called_data() -> None:
    error = "tensorflow.python.framework.errors_impl.DataLossError: corrupted record at 4096 [Op:IteratorGetNext]"
    finding = raised("for batch in dataset:", error, 'tensorflow/python/data/ops/iterator_ops.py", line 3, in __next__')
    assert finding.rule == "corrupt-record"
    assert finding.cause.startswith("A data file is damaged")
    table = raised('rows = h5py.File("train.h5")', HDF5, 'h5py/_hl/files.py", line 9, in __init__')
    assert table.cause.startswith("A data file is damaged")


def test_what_keras_says_of_a_missing_and_of_a_cut_file_is_not_certain_in_a_log() -> None:
    error = "ValueError: File not found: filepath=m.keras. Please ensure the file is an accessible `.keras` zip file."
    finding = raised('model = keras.models.load_model("m.keras")', error)
    assert (finding.rule, finding.confidence) == ("missing-file", Confidence.LIKELY)
    assert "or is truncated" in finding.cause


def steps(count: int) -> list[Step]:
    return [Step(n, 1.0 + n / 100, 0.01, float("nan"), 0.5, 0.1, 0, n - 1, 1) for n in range(1, count + 1)]


STAGES = [{"stage": "Batch", "batch_size": 32}, {"stage": "Map"}, {"stage": "TFRecord"}]


def test_the_record_that_is_damaged_is_counted_from_the_batches_before_it() -> None:
    damaged = error("tensorflow.errors.DataLossError", "truncated record at 52110")
    diagnosis = diagnosed(*fit([], epochs=3, data={"stages": STAGES}), damaged, code=1, steps=steps(38))
    assert diagnosis.findings[0].rule == "corrupt-record"
    assert "one of the records 1,217 to 1,248" in says(diagnosis)


def test_a_shuffled_record_has_no_number() -> None:
    damaged = error("tensorflow.errors.DataLossError", "truncated record at 52110")
    data = {"stages": [{"stage": "Shuffle", "buffer_size": 9}, *STAGES]}
    diagnosis = diagnosed(*fit([], epochs=3, data=data), damaged, code=1, steps=steps(38))
    assert "one of the records" not in says(diagnosis)
