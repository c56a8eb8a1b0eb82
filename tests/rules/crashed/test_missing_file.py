"""missing-file: the path is named as it is."""

from __future__ import annotations

from tests.rules.crashed.ended import ended, raised

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
