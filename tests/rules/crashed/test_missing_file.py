"""missing-file: the path is named as it is."""

from __future__ import annotations

from laststep.analysis.finding import Diagnosis
from laststep.record.run import Run
from laststep.rules.diagnose import diagnose
from tests.rules.crashed.ended import ended, raised
from tests.written import written

IN_GRAPH = (
    "Graph execution error:\n\n"
    "Detected at node IteratorGetNext defined at (most recent call last):\n"
    '  File "/home/anna/train.py", line 20, in <module>\n\n'
    '  File "/usr/lib/python3.11/site-packages/keras/src/trainer.py", line 110, in multi_step_on_iterator\n\n'
    "data/train-3.tfrecord; No such file or directory\n"
    "\t [[{{node IteratorGetNext}}]] [Op:__inference_multi_step_on_iterator_9]"
)


def test_the_path_in_the_error_of_a_graph_is_not_glued_to_the_line_before() -> None:
    first = ended(raised("tensorflow.python.framework.errors_impl.NotFoundError", IN_GRAPH)).findings[0]
    assert (first.rule, first.cause) == ("missing-file", "data/train-3.tfrecord does not exist.")


def test_a_script_that_is_not_there_and_the_one_that_was_meant() -> None:
    diagnosis = _without_a_script(
        {"similar": ["train.py"]}, "python: can't open file '/home/anna/trian.py': [Errno 2] No"
    )
    first = diagnosis.findings[0]
    assert (first.rule, first.cause) == ("missing-file", "There is no script trian.py: did you mean train.py?")
    assert first.remedies[0].change == "laststep run python train.py"


def test_a_child_that_did_not_find_its_script_is_another_matter() -> None:
    child = "python: can't open file '/home/anna/evaluate.py': [Errno 2] No such file or directory"
    assert "missing-file" not in [finding.rule for finding in _without_a_script({}, child).findings]


def _without_a_script(launch: dict[str, object], said: str) -> Diagnosis:
    began = written(0.0, "run", {"command": ["python", "trian.py"], "cwd": "/home/anna", **launch})
    end = written(9.0, "end", {"code": 2, "pid": 7, "seconds": 9.0})
    return diagnose(Run(id="r", events=(began, written(0.1, "recorder", {"pid": 7}), end), console=said))
