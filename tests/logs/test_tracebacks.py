"""Python's and IPython's tracebacks: whole, chained, in a message, cut, logged; and what only looks like an error."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from laststep.logs.tracebacks import CUT_OFF, MAX_MESSAGE_LINES
from laststep.record.events.process import ChainedException, Raised
from laststep.record.place import Place
from tests.logs.printed import (
    IN_USER_CODE,
    ONE_FIT,
    OPEN_EPOCH,
    OUT_OF_GPU_MEMORY,
    TRACEBACK,
    answer,
    bar2,
    bar3,
    cause,
    epochs,
    story,
)


def exceptions(log: str) -> list[Raised]:
    return [event for event in story(log).events if isinstance(event, Raised)]


def test_a_plain_one() -> None:
    [error] = exceptions(OPEN_EPOCH + TRACEBACK)
    assert (error.type, error.message, error.left) == ("KeyError", "'speed'", "program")
    assert error.where == Place("/home/anna/train.py", 12, 'rows = table["speed"]', is_users=True)
    assert [(frame.line, frame.function) for frame in error.frames] == [(31, "<module>"), (12, "main")]
    assert error.at_line == 8
    diagnosis = answer(OPEN_EPOCH + TRACEBACK)
    assert diagnosis.findings[0].rule == "unhandled-exception"
    assert diagnosis.outcome == "crashed"


def test_the_line_of_your_own_code_and_not_a_librarys() -> None:
    library = '  File "/opt/venv/lib/python3.10/site-packages/keras/engine/training.py", line 9, in fit\n    raise x\n'
    log = TRACEBACK.replace("KeyError", library + "KeyError")
    [error] = exceptions(log)
    assert len(error.frames) == 3
    assert error.where.line == 12


def test_the_marks_of_python_3_11_under_a_line_are_not_its_text() -> None:
    marked = TRACEBACK.replace('    rows = table["speed"]\n', '    rows = table["speed"]\n           ~~~~~^^^^^^^^^\n')
    assert exceptions(marked)[0].where.text == 'rows = table["speed"]'


def test_a_repeated_frame_is_no_end() -> None:
    again = '    main()\n  [Previous line repeated 990 more times]\n  File "/home/anna/train.py", line 12'
    [error] = exceptions(TRACEBACK.replace('    main()\n  File "/home/anna/train.py", line 12', again))
    assert error.type == "KeyError"


FIRST = TRACEBACK.replace("KeyError: 'speed'", "LookupError: no wheel")
CHAINS = {
    "while handling": "\nDuring handling of the above exception, another exception occurred:\n\n",
    "raise from": "\nThe above exception was the direct cause of the following exception:\n\n",
}


@pytest.mark.parametrize("link", CHAINS.values(), ids=CHAINS)
def test_a_chain_is_one_error_with_its_reason(link: str) -> None:
    [error] = exceptions(FIRST + link + TRACEBACK)
    assert error.type == "KeyError"
    assert error.because_of == (ChainedException(type="LookupError", message="no wheel"),)
    evidence = [item.says for item in answer(FIRST + link + TRACEBACK).findings[0].evidence]
    assert any("LookupError: no wheel" in says for says in evidence)


@pytest.mark.parametrize("link", CHAINS.values(), ids=CHAINS)
def test_a_chain_of_three(link: str) -> None:
    second = TRACEBACK.replace("KeyError: 'speed'", "OSError: no spokes")
    [error] = exceptions(FIRST + link + second + link + TRACEBACK)
    assert [each.type for each in error.because_of] == ["LookupError", "OSError"]


@pytest.mark.parametrize("link", CHAINS.values(), ids=CHAINS)
def test_a_chain_that_is_cut_after_its_first_part(link: str) -> None:
    [error] = exceptions(FIRST + link + TRACEBACK[: TRACEBACK.index("KeyError")])
    assert (error.type, error.message) == ("LookupError", "no wheel")


def test_tensorflow_writes_a_stack_into_the_message() -> None:
    diagnosis = answer(OPEN_EPOCH + IN_USER_CODE)
    [error] = diagnosis.run.all(Raised)
    assert error.type == "ValueError"
    assert error.message.startswith("in user code:")
    assert error.message.endswith("[?,8], [?,6].")
    finding = diagnosis.findings[0]
    assert finding.rule == "shape-mismatch"
    assert (finding.where.file, finding.where.line) == ("/home/anna/losses.py", 9)


def test_a_graph_execution_error() -> None:
    diagnosis = answer(OPEN_EPOCH + OUT_OF_GPU_MEMORY)
    [error] = diagnosis.run.all(Raised)
    assert error.type == "tensorflow.python.framework.errors_impl.ResourceExhaustedError"
    assert "[Op:__inference_train_function_811]" in error.message
    finding = diagnosis.findings[0]
    assert finding.rule == "gpu-out-of-memory"
    assert "wide/MatMul" in finding.cause
    assert any("[512, 4096, 64]" in item.says for item in finding.evidence)


def test_a_traceback_inside_a_message_is_part_of_it() -> None:
    inner = "".join(f"  {line}\n" for line in TRACEBACK.splitlines())
    log = OUT_OF_GPU_MEMORY.replace("Graph execution error:\n", f"{{{{function_node wide}}}} failed\n{inner}")
    [error] = exceptions(log)
    assert error.type.endswith("ResourceExhaustedError")
    assert "KeyError: 'speed'" in error.message


RULE_LINE = "-" * 75
NOTEBOOKS = {
    "of 2019": "<ipython-input-7-0a1b2c3d4e5f> in <module>",
    "of 2019, Colab": "<ipython-input-7-0a1b2c3d4e5f> in <module>()",
    "of 2022": "Input In [7], in <cell line: 2>()",
    "of 2022, Colab": "<ipython-input-7-0a1b2c3d4e5f> in <cell line: 2>()",
    "a kernel's own file": "/tmp/ipykernel_411/998877.py in <module>",
    "of today, Colab": "/tmp/ipython-input-7-998877.py in <cell line: 0>()",
}


@pytest.mark.parametrize("cell", NOTEBOOKS.values(), ids=NOTEBOOKS)
def test_notebooks(cell: str) -> None:
    log = (
        f"{RULE_LINE}\n"
        "ValueError                                Traceback (most recent call last)\n"
        f"{cell}\n"
        "      1 batches = 3\n"
        "----> 2 model.fit(x, y, batch_size=0)\n"
        "\n"
        "/usr/local/lib/python3.7/dist-packages/keras/engine/training.py in fit(self, x, y)\n"
        "   1100     with scope:\n"
        '-> 1101       raise ValueError("batch_size must be positive")\n'
        "\n"
        "ValueError: batch_size must be positive\n"
    )
    [error] = exceptions(log)
    assert (error.type, error.message) == ("ValueError", "batch_size must be positive")
    assert error.where.line == 2
    assert error.where.text == "model.fit(x, y, batch_size=0)"
    assert [frame.line for frame in error.frames] == [2, 1101]
    assert cause(log) == "unhandled-exception"


TODAYS_NOTEBOOK = (
    f"{RULE_LINE}\n"
    "ValueError                                Traceback (most recent call last)\n"
    "Cell In[4], line 3\n"
    "      1 rate = 0.1\n"
    "----> 3 fit(x, y, batch_size=0)\n"
    "\n"
    "{}"
    "File ~/venv/lib/python3.10/site-packages/keras/src/trainer.py:122, in Trainer.fit(self, x, y)\n"
    "    121     if batch_size < 1:\n"
    '--> 122         raise ValueError("batch_size must be positive")\n'
    "\n"
    "ValueError: batch_size must be positive\n"
)


def test_a_notebook_of_today_with_a_function_in_a_cell() -> None:
    called = "Cell In[4], line 2, in fit(x, y, batch_size)\n      1 def fit(x, y):\n----> 2     return model.fit(x)\n\n"
    [error] = exceptions(TODAYS_NOTEBOOK.format(called))
    assert error.where == Place("Cell In[4]", 2, "return model.fit(x)", is_users=True)


def test_a_notebook_of_today_with_nothing_but_a_cell() -> None:
    [error] = exceptions(TODAYS_NOTEBOOK.format(""))
    assert error.where == Place("Cell In[4]", 3, "fit(x, y, batch_size=0)", is_users=True)


def test_a_notebook_that_is_cut_has_the_class_from_its_head() -> None:
    head = TODAYS_NOTEBOOK.format("")[:-60]
    [error] = exceptions(head)
    assert error.type == "ValueError"


@pytest.mark.parametrize("left", range(TRACEBACK.index("  File"), len(TRACEBACK), 7))
def test_one_that_is_cut_anywhere_is_an_error_all_the_same(left: int) -> None:
    log = OPEN_EPOCH + TRACEBACK[:left]
    errors = exceptions(log)
    assert len(errors) <= 1
    if '", line 31' in log:  # a whole frame
        assert errors[0].type in (CUT_OFF, "KeyError")
        assert errors[0].where.file == "/home/anna/train.py"
        assert answer(log).outcome == "crashed"


@pytest.mark.parametrize("first", range(0, TRACEBACK.index("KeyError"), 7))
def test_one_whose_beginning_is_cut_off(first: int) -> None:
    [error] = exceptions(TRACEBACK[first:])
    assert (error.type, error.message) == ("KeyError", "'speed'")


LAST_LINES = {
    "KeyError: 'speed'": "unhandled-exception",
    "RuntimeError: the wheels came off": "unhandled-exception",
    "FileNotFoundError: [Errno 2] No such file or directory: 'wheels.csv'": "missing-file",
    "tensorflow.python.framework.errors_impl.NotFoundError: wheels.tfrecord; No such file or directory": "missing-file",
    "ModuleNotFoundError: No module named 'wheels'": None,
    "KeyboardInterrupt": "interrupted",
    "KeyboardInterrupt: ": "interrupted",
}


@pytest.mark.parametrize(("line", "rule"), LAST_LINES.items(), ids=LAST_LINES)
def test_nothing_but_the_last_line(line: str, rule: str | None) -> None:
    diagnosis = answer(f"{OPEN_EPOCH}{line}\n")
    assert diagnosis.findings
    if rule is not None:
        assert diagnosis.findings[0].rule == rule
    assert len(diagnosis.run.all(Raised)) == 1


def test_nothing_but_the_last_line_and_no_message() -> None:
    assert cause(f"{OPEN_EPOCH}AssertionError\n") == "unhandled-exception"


METRICS = [
    "Error: 0.12",
    "error = 0.12",
    "mean_squared_error: 0.0412",
    "MeanSquaredError: 0.0412",
    "RootMeanSquaredError: 1.5e-03",
    "MeanAbsoluteError: 3",
    "ValidationError: 0.0412",
    "Test error: 12%",
    "Prediction error: 0.3 (was 0.4)",
    "Errors: 0",
    "mean_absolute_error - 0.3",
]


@pytest.mark.parametrize("line", METRICS)
def test_a_metric_called_error_is_none(line: str) -> None:
    log = f"{line}\n{epochs(1)}{line}\n"
    assert exceptions(log) == []
    diagnosis = answer(log)
    assert (diagnosis.findings, diagnosis.outcome) == ((), "finished")


@pytest.mark.parametrize("name", ["mean_squared_error", "Error", "MeanSquaredError", "val_error", "error_rate"])
@pytest.mark.parametrize("draw", [bar2, bar3], ids=["keras 2", "keras 3"])
def test_a_metric_called_error_in_a_bar(draw: Callable[..., str], name: str) -> None:
    bar = draw(4, 4, f"loss: 0.2500 - {name}: 0.1250", "1s 90ms/step")
    diagnosis = answer(f"Epoch 1/1\n{bar}\n")
    assert (diagnosis.findings, diagnosis.outcome) == ((), "finished")
    assert diagnosis.run.fits[0].epochs[0].metrics == {"loss": 0.25, name: 0.125}


@pytest.mark.parametrize("line", ["TestError: 3.1 %", "TrainError: 0.51, TestError: 0.62", "TestError: 0.4 (best 0.3)"])
def test_a_metric_called_error_with_more_after_its_number(line: str) -> None:
    assert exceptions(f"{line}\n") == []


NO_ERRORS = [
    "UserWarning: mind the gap",
    "ERROR:root:could not write the picture",
    "E tensorflow/stream_executor/cuda/cuda_driver.cc:313] failed call to cuInit: UNKNOWN ERROR (303)",
    "# Traceback: see the manual",
    "except KeyError: pass",
    "Handles ValueError and KeyError",
    "keras.callbacks.EarlyStopping",
]


@pytest.mark.parametrize("line", NO_ERRORS)
def test_lines_that_are_no_errors(line: str) -> None:
    log = f"{ONE_FIT}{line}\n"
    assert exceptions(log) == []
    assert answer(log).outcome == "finished"


LOGGED = "ERROR:root:upload failed\n" + TRACEBACK
WENT_ON = {
    "keras 2": epochs(1, 3) + LOGGED + epochs(2, 3, first=2),
    "keras 2, drawn over": f"Epoch 1/2\n{bar2(40, 100)}\n{LOGGED}{bar2(50, 100)}\r"
    f"{bar2(100, 100, clock='9s 90ms/step')}\n{epochs(1, 2, first=2)}",
    "keras 3": f"Epoch 1/2\n{bar3(4, 4)}\n{LOGGED}Epoch 2/2\n{bar3(4, 4)}\n",
    "twice": epochs(1, 3) + LOGGED + epochs(1, 3, first=2) + LOGGED + epochs(1, 3, first=3),
}


@pytest.mark.parametrize("log", WENT_ON.values(), ids=WENT_ON)
def test_a_logged_exception_after_which_training_went_on_is_not_the_cause(log: str) -> None:
    diagnosis = answer(log)
    assert {error.left for error in diagnosis.run.all(Raised)} == {"caught"}
    assert diagnosis.findings == ()
    assert diagnosis.outcome == "finished"


def test_a_logged_exception_and_a_later_one_that_ended_it() -> None:
    last = TRACEBACK.replace("KeyError: 'speed'", "RuntimeError: the wheels came off")
    diagnosis = answer(epochs(1, 3) + LOGGED + epochs(1, 3, first=2) + last)
    assert [error.left for error in diagnosis.run.all(Raised)] == ["caught", "program"]
    assert "RuntimeError" in diagnosis.findings[0].cause
    assert diagnosis.outcome == "crashed"


def test_a_logged_exception_in_a_loop_that_logs_its_steps() -> None:
    steps = [f"INFO:root:step {number}: loss 0.{number}\n" for number in range(1, 9)]
    diagnosis = answer("".join(steps[:4]) + LOGGED + "".join(steps[4:]))
    [error] = diagnosis.run.all(Raised)
    assert (error.message, error.left) == ("'speed'", "caught")
    assert diagnosis.findings == ()


def test_what_a_loop_prints_after_an_exception_may_have_been_buffered_before_it() -> None:
    steps = [f"step {number}: loss 0.{number}\n" for number in range(1, 9)]
    assert cause("".join(steps[:4]) + TRACEBACK + "".join(steps[4:])) == "unhandled-exception"


def test_a_logged_exception_and_the_log_ends_in_the_next_epoch() -> None:
    diagnosis = answer(f"{epochs(1, 3)}{LOGGED}Epoch 2/3\n{bar2(10, 100)}\r{bar2(40, 100)}\n")
    assert diagnosis.findings == ()
    assert diagnosis.outcome == "unknown"


def test_a_logged_exception_late_in_a_long_training() -> None:
    diagnosis = answer(epochs(60, 90) + LOGGED + epochs(30, 90, first=61) + "saved to wheels.keras\n")
    assert (diagnosis.findings, diagnosis.outcome) == ((), "finished")


AT_THE_EXIT = {
    "a finalizer": "Exception ignored in: <function Pool.__del__ at 0x7f0a>\n",
    "an object": "Exception ignored in: <Finalize object, dead>\n",
    "atexit": "Error in atexit._run_exitfuncs:\n",
}


@pytest.mark.parametrize("words", AT_THE_EXIT.values(), ids=AT_THE_EXIT)
def test_an_exception_that_python_ignores_at_its_exit_ended_nothing(words: str) -> None:
    diagnosis = answer(ONE_FIT + words + TRACEBACK)
    assert (diagnosis.findings, diagnosis.outcome) == ((), "finished")


@pytest.mark.parametrize("words", AT_THE_EXIT.values(), ids=AT_THE_EXIT)
def test_an_exception_that_python_ignores_does_not_hide_the_one_before_it(words: str) -> None:
    ignored = TRACEBACK.replace("KeyError: 'speed'", "AttributeError: 'NoneType' object has no attribute 'dumps'")
    finding = answer(OPEN_EPOCH + TRACEBACK + words + ignored).findings[0]
    assert "KeyError" in finding.cause


INTERRUPTED = TRACEBACK.replace("KeyError: 'speed'", "KeyboardInterrupt")


@pytest.mark.parametrize("before", ["", "^C"])
def test_keyboard_interrupt(before: str) -> None:
    diagnosis = answer(OPEN_EPOCH + before + INTERRUPTED)
    assert diagnosis.findings[0].rule == "interrupted"
    assert "unhandled-exception" not in [finding.rule for finding in diagnosis.findings]
    assert diagnosis.outcome == "stopped"


def test_keyboard_interrupt_glued_to_the_bar() -> None:
    assert cause(f"Epoch 1/9\n{bar2(40, 100)}^C{INTERRUPTED}") == "interrupted"


def test_a_callback_that_raised() -> None:
    frames = (
        '  File "/opt/venv/lib/python3.10/site-packages/keras/callbacks.py", line 430, in on_epoch_end\n'
        "    callback.on_epoch_end(epoch, logs)\n"
        '  File "/home/anna/train.py", line 22, in on_epoch_end\n'
        '    self.file.write(logs["recall"])\n'
    )
    log = OPEN_EPOCH + TRACEBACK.replace("KeyError: 'speed'", frames + "KeyError: 'recall'")
    finding = answer(log).findings[0]
    assert finding.rule == "callback-raised"
    assert finding.where.line == 22


def test_an_endless_message_is_kept_in_part() -> None:
    log = "ValueError: in user code:\n" + "".join(f"    line {number}\n" for number in range(5 * MAX_MESSAGE_LINES))
    [error] = exceptions(log)
    assert len(error.message.splitlines()) <= MAX_MESSAGE_LINES + 1


NEXT_LINES = [
    "2025-03-04 05:06:07.123456: W tensorflow/core/kernels/data/generator_dataset_op.cc:108] Error occurred when "
    "finalizing GeneratorDataset iterator",
    "Epoch 1/3",
    "Process finished with exit code 1",
    "anna@box:~/work$ ",
    "PS C:\\work> ",
    "srun: error: gpu07: task 0: Exited with exit code 1",
    "wandb: Waiting for the upload",
    "=" * 60,
]


@pytest.mark.parametrize("line", NEXT_LINES)
def test_what_ends_a_message(line: str) -> None:
    [error] = exceptions(f"{TRACEBACK}{line}\n")
    assert error.message == "'speed'"


def test_a_prompt_in_an_environment_ends_a_message() -> None:
    [error] = exceptions(f"{TRACEBACK}(tf) anna@box:~/work$ \n")
    assert error.message == "'speed'"


def test_a_traceback_of_a_thread_beside_a_training_that_finished() -> None:
    log = epochs(1, 2) + "Exception in thread Thread-3:\n" + TRACEBACK + epochs(1, 2, first=2)
    assert (answer(log).findings, answer(log).outcome) == ((), "finished")


def test_an_error_that_a_queue_reports_to_its_coordinator() -> None:
    head = "INFO:tensorflow:Error reported to Coordinator: <class 'tensorflow.errors_impl.DataLossError'>, "
    assert cause(f"{head}truncated record at 7\n") == "corrupt-record"


def test_a_hook_that_ended_the_training_for_a_bad_loss() -> None:
    log = "tensorflow.python.training.basic_session_run_hooks.NanLossDuringTrainingError: NaN loss during training.\n"
    assert cause(log) == "stopped-on-nan"


def test_an_evaluation_of_better_weights_does_not_hide_a_bad_loss() -> None:
    assert (
        cause(f"Epoch 1/1\n{bar2(4, 4, 'loss: nan', '1s 9ms/step')}\n{bar2(9, 9, 'loss: 0.5', '1s 9ms/step')}\n")
        == "nan-loss"
    )
