"""Edits of a recorded call: what the line becomes."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from laststep.analysis.edits import (
    Edit,
    argument,
    before_call,
    replace_keyword,
    with_input_through,
    with_layer_before,
    with_setting,
)
from laststep.record.decode import decode
from laststep.record.events.network import CallSource, PassedLayer
from laststep.recorder.call_source import Site, describe_call


def source(tmp_path: Path, program: str, call: str) -> CallSource:
    """The first call of this name in a program, as the recorder describes it."""
    path = tmp_path / f"train_{len(list(tmp_path.iterdir()))}.py"  # sources are cached by name
    path.write_text(program)
    nodes = [node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Call)]
    node = next(node for node in nodes if ast.unparse(node.func) == call)
    span = (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
    described = describe_call(Site(str(path), node.lineno, span))
    assert described is not None
    return decode(CallSource, described)


def layer(made: CallSource) -> PassedLayer:
    return PassedLayer(name="dense", class_name="Dense", library="keras", made=made)


def lines(edit: Edit | None) -> tuple[int, str]:
    assert edit is not None
    return edit.where.line, edit.change


SETTINGS = {
    "added": ("model.add(LSTM(8))", (1, "model.add(LSTM(8, flag=True))")),
    "replaced": ("model.add(LSTM(8, flag=False))", (1, "model.add(LSTM(8, flag=True))")),
    "without arguments": ("x = LSTM()", (1, "x = LSTM(flag=True)")),
    "after a comma": ("x = LSTM(8,)", (1, "x = LSTM(8, flag=True)")),
    "in the last of several lines": ("x = LSTM(\n    8,\n    name='a')", (3, "name='a', flag=True)")),
    "before a parenthesis of its own": ("x = LSTM(\n    8,\n)", (3, "    flag=True,\n)")),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_added_or_replaced(name: str, tmp_path: Path) -> None:
    program, expected = SETTINGS[name]
    edit = with_setting(source(tmp_path, program, "LSTM"), "flag", "True")
    assert lines(edit) == expected
    assert edit is not None
    edited = program.splitlines()
    edited[edit.where.line - 1] = edit.change
    ast.parse("\n".join(edited))


def test_an_argument_that_cannot_be_seen_is_not_edited(tmp_path: Path) -> None:
    assert with_setting(source(tmp_path, "x = LSTM(**given)", "LSTM"), "flag", "True") is None
    assert with_setting(None, "flag", "True") is None


LAYERS = {
    "added": ("model.add(layers.Dense(3))", "layers.Dense", "model.add(layers.Flatten())\nmodel.add(layers.Dense(3))"),
    "element": ("m = [\n    layers.Dense(3),\n]", "layers.Dense", "layers.Flatten(),\nlayers.Dense(3),"),
    "element of one line": ("m = [a, layers.Dense(3)]", "layers.Dense", "m = [a, layers.Flatten(), layers.Dense(3)]"),
    "applied": ("x = layers.Dense(3)(x)", "layers.Dense", "x = layers.Flatten()(x)\nx = layers.Dense(3)(x)"),
    "applied to an input": (
        "x = layers.Dense(3)(inputs)",
        "layers.Dense",
        "x = layers.Dense(3)(layers.Flatten()(inputs))",
    ),
    "applied to a call": ("y = L.Dense(3)(f(x))", "L.Dense", "y = L.Dense(3)(L.Flatten()(f(x)))"),
    "imported by its name": (
        "model.add(Dense(3))",
        "Dense",
        "from keras.layers import Flatten\nmodel.add(Flatten())\nmodel.add(Dense(3))",
    ),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_is_put_before_another(name: str, tmp_path: Path) -> None:
    program, call, expected = LAYERS[name]
    edit = with_layer_before(layer(source(tmp_path, program, call)), "Flatten()", None)
    assert lines(edit)[1] == expected


def test_an_element_of_a_list_is_not_put_in_without_a_name_for_its_class(tmp_path: Path) -> None:
    listed = layer(source(tmp_path, "m = [\n    Dense(3),\n]", "Dense"))
    assert with_layer_before(listed, "Flatten()", None) is None
    assert lines(with_layer_before(listed, "Flatten()", "keras.layers.")) == (2, "keras.layers.Flatten(),\nDense(3),")


def test_one_input_of_a_merging_layer_goes_through_another(tmp_path: Path) -> None:
    add = layer(source(tmp_path, "y = layers.Add()([x, short])", "layers.Add"))
    edit = with_input_through(add, 1, "Conv2D(32, 1)", None)
    assert lines(edit) == (1, "y = layers.Add()([x, layers.Conv2D(32, 1)(short)])")


def test_a_statement_goes_before_the_one_that_calls(tmp_path: Path) -> None:
    fit = source(tmp_path, "history = model.fit(x, y)", "model.fit")
    assert lines(before_call(fit, "x = x[..., None]")) == (1, "x = x[..., None]\nhistory = model.fit(x, y)")
    inner = source(tmp_path, "print(model.fit(x, y))", "model.fit")
    assert before_call(inner, "x = x[..., None]") is None


def test_a_named_argument_is_replaced_with_its_name(tmp_path: Path) -> None:
    fit = source(tmp_path, "model.fit(x, y, class_weight=w, epochs=1)", "model.fit")
    given = argument(fit, "class_weight")
    assert given is not None
    edit = replace_keyword(fit, given, "sample_weight=w[y]")
    assert lines(edit) == (1, "model.fit(x, y, sample_weight=w[y], epochs=1)")
