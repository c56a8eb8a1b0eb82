"""permission-denied: the path is named as it is."""

from __future__ import annotations

import pytest

from tests.rules.crashed.ended import ended, raised


@pytest.mark.parametrize("file", ["shared/train-2.tfrecord", "/data/train-2.tfrecord", "~/x/y.npy"])
def test_a_relative_path_in_the_error_of_a_graph_keeps_its_first_folder(file: str) -> None:
    message = f"Graph execution error:\n\n{file}; Permission denied\n\t [[{{{{node IteratorGetNext}}}}]]"
    first = ended(raised("tensorflow.python.framework.errors_impl.PermissionDeniedError", message)).findings[0]
    assert (first.rule, first.cause) == ("permission-denied", f"The program has no permission to use {file}.")
