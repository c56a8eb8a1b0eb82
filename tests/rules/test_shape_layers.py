"""shape-mismatch with the layers on record: which layer it is, the line to change, and how certain that is."""

from __future__ import annotations

from typing import Any

import pytest

from laststep.analysis.finding import Confidence, Finding
from laststep.record.steps import Step
from tests.rules.crashed.ended import ended, raised
from tests.written import written

LIKELY, CERTAIN = Confidence.LIKELY, Confidence.CERTAIN
FILE = "/home/anna/train.py"
NDIM_3 = (
    "Input 0 with name 'None' of layer 'last' is incompatible with the layer: expected ndim=3, found ndim=2. "
    "Full shape received: (None, 16)"
)
LABELS = "Arguments `target` and `output` must have the same {}. Received: target.shape=({}), output.shape=({})"


def layer(name: str, kind: str, line: int = 0, call: str = "", **more: Any) -> dict[str, Any]:
    """A layer made by `model.add(CALL)` at this line."""
    described = {"name": name, "class": kind, "library": "keras", **more}
    if not line:
        return described
    text = f"model.add({call})"
    made = {
        "file": FILE, "line": line, "lines": [text], "begin": 10, "end": len(text) - 1, "close": [line, len(text) - 2],
        "name": call.partition("(")[0], "form": "added", "receiver": "model.add", "in_loop": more.pop("in_loop", False),
    }  # fmt: skip
    return described | {"where": {"file": FILE, "line": line, "text": text}, "made": made}


def recurrent(name: str, line: int, sequences: bool, **more: Any) -> dict[str, Any]:
    return layer(name, "LSTM", line, "layers.LSTM(16)", settings={"units": 16, "return_sequences": sequences}, **more)


INPUT = layer("input", "InputLayer", given=[None, 12, 4], gives=[None, 12, 4])
LAST = layer("last", "LSTM", 9, "layers.LSTM(8)", given=[None, 16], settings={"return_sequences": False})


def found(message: str, *layers: dict[str, Any], failed: str = "", **more: Any) -> Finding:
    network = written(59.0, "network", {"failed": failed, "layers": list(layers), "reach": "layers.", **more})
    return ended(network, raised("ValueError", message)).findings[0]


def change(finding: Finding, at: int = 0) -> tuple[int, str | None]:
    remedy = finding.remedies[at]
    return (remedy.where.line if remedy.where else 0, remedy.change)


def line(finding: Finding) -> int:
    return finding.where.line if finding.where else 0


def test_the_recurrent_layer_before_must_return_its_sequence() -> None:
    finding = found(NDIM_3, INPUT, recurrent("first", 5, False), layer("drop", "Dropout"), LAST, failed="last")
    assert finding.cause == "last (LSTM) needs a sequence, but first (LSTM) before it returns only its last output."
    assert (finding.confidence, line(finding)) == (CERTAIN, 5)
    assert change(finding) == (5, "model.add(layers.LSTM(16, return_sequences=True))")
    assert len(finding.remedies) == 1


def test_a_decoder_may_want_the_last_output_repeated() -> None:
    decoder = LAST | {"settings": {"return_sequences": True}}
    finding = found(NDIM_3, INPUT, recurrent("first", 5, False), decoder, failed="last")
    assert finding.confidence is LIKELY
    assert "RepeatVector" in finding.remedies[1].does
    assert finding.remedies[1].change is None  # how many steps it predicts is not known


def test_of_layers_made_in_a_loop_no_line_is_edited() -> None:
    looped = [recurrent("first", 5, False, in_loop=True), recurrent("last", 5, False, given=[None, 16], in_loop=True)]
    finding = found(NDIM_3, INPUT, *looped, failed="last")
    assert line(finding) == 5
    assert all(remedy.where is None for remedy in finding.remedies)


def test_a_layer_that_removes_the_steps_is_blamed_and_not_the_recurrent_one() -> None:
    flatten = layer("flatten", "Flatten", 7, "layers.Flatten()")
    finding = found(NDIM_3, INPUT, recurrent("first", 5, True), flatten, LAST, failed="last")
    assert (line(finding), "flatten (Flatten) before it removes" in finding.cause) == (7, True)


def test_a_table_before_a_recurrent_layer_has_two_remedies() -> None:
    finding = found(NDIM_3, layer("dense", "Dense", 5, "layers.Dense(16)"), LAST, failed="last")
    assert (finding.confidence, line(finding)) == (LIKELY, 9)
    assert change(finding) == (9, "model.add(layers.Reshape((-1, 1)))\nmodel.add(layers.LSTM(8))")


def test_without_the_layers_the_message_alone_answers() -> None:
    finding = ended(raised("ValueError", NDIM_3)).findings[0]
    assert finding.cause == "The layer last expects ndim=3 but got a tensor of shape (None, 16)."


DENSE = layer("out", "Dense", 12, "layers.Dense(23)", settings={"units": 23})


def test_one_row_of_classes_and_an_output_for_each_step() -> None:
    message = LABELS.format("rank (ndim)", "8, 23", "8, 826, 23")
    finding = found(message, INPUT, recurrent("lstm", 5, True), DENSE)
    assert (finding.rule, finding.confidence, line(finding)) == ("shape-mismatch", LIKELY, 5)
    assert change(finding) == (5, "model.add(layers.LSTM(16, return_sequences=False))")
    assert change(finding, 1) == (12, "model.add(layers.GlobalAveragePooling1D())\nmodel.add(layers.Dense(23))")


@pytest.mark.parametrize(
    ("target", "output", "rule"),
    [
        ("8, 23", "8, 826, 23", "shape-mismatch"),
        ("None, 23", "None, None, 23", "shape-mismatch"),
        ("8, 826", "8, 826, 23", "bad-labels-for-loss"),
        ("4, 64, 64", "4, 64, 64, 2", "bad-labels-for-loss"),
        ("4, 64, 64", "4, 32, 32, 2", "shape-mismatch"),
        ("32", "32, 10", "bad-labels-for-loss"),
        ("32, 1", "32, 10", "bad-labels-for-loss"),
    ],
)
def test_labels_are_class_indices_only_with_one_for_each_position(target: str, output: str, rule: str) -> None:
    assert found(LABELS.format("rank (ndim)", target, output)).rule == rule


def test_a_convolutional_network_is_flattened_before_its_head() -> None:
    conv = layer("conv", "Conv2D", 5, "layers.Conv2D(8, 3)", settings={"filters": 8})
    head = layer("head", "Dense", 7, "layers.Dense(32)", given=[None, 13, 13, 8], settings={"units": 32})
    finding = found(LABELS.format("rank (ndim)", "None, 5", "None, 13, 13, 5"), conv, head, DENSE)
    assert (finding.confidence, line(finding)) == (LIKELY, 7)
    assert change(finding) == (7, "model.add(layers.Flatten())\nmodel.add(layers.Dense(32))")
    assert change(finding, 1) == (7, "model.add(layers.GlobalAveragePooling2D())\nmodel.add(layers.Dense(32))")


def test_a_label_for_each_step_and_one_output_for_all() -> None:
    message = "Argument `output` must have rank (ndim) `target.ndim - 1`. Received: "
    message += "target.shape=(32, 12), output.shape=(32, 23)"
    lstm = recurrent("lstm", 5, False, given=[None, 12, 4])
    finding = found(message, INPUT, lstm, DENSE)
    assert (finding.confidence, change(finding)) == (LIKELY, (5, "model.add(layers.LSTM(16, return_sequences=True))"))


def test_sides_of_masks_and_output_that_differ_by_a_factor() -> None:
    conv = layer("conv", "Conv2D", 8, "layers.Conv2D(1, 1)", settings={"filters": 1})
    finding = found(LABELS.format("shape", "4, 64, 64, 1", "4, 32, 32, 1"), conv)
    assert change(finding) == (8, "model.add(layers.UpSampling2D(2))\nmodel.add(layers.Conv2D(1, 1))")
    odd = found(LABELS.format("shape", "4, 65, 65, 1", "4, 32, 32, 1"), conv)
    assert odd.remedies[0].where is None, "no whole factor enlarges 32 to 65"


CONV = layer("conv", "Conv2D", 5, "layers.Conv2D(8, 3)", settings={"rank": 2, "data_format": "channels_last"})
TOO_SMALL = "Computed output size would be zero or negative. Received: `inputs.shape=[None 1 30 16]`, `pool_size=[2 2]`"
POOL = layer("pool", "MaxPooling2D", 6, "layers.MaxPooling2D()", settings={"data_format": "channels_last"})


@pytest.mark.parametrize(
    ("shape", "is_blamed"),
    [
        ([None, 3, 32, 32], True),
        ([None, 1, 28, 28], True),
        ([None, 4, 60, 8], False),
        ([None, 3, 32, 3], False),
        ([None, 32, 32, 3], False),
    ],
)
def test_channels_first_is_said_of_what_looks_like_images(shape: list[int | None], is_blamed: bool) -> None:
    finding = found(TOO_SMALL, layer("input", "InputLayer", gives=shape), CONV, POOL, failed="pool")
    assert ("channels first" in finding.cause, finding.confidence) == (is_blamed, LIKELY)
    assert change(finding)[0] == (5 if is_blamed else 6)


def test_a_shortcut_is_projected_to_the_channels_of_the_other() -> None:
    use = {
        "line": 10, "text": "x = layers.Add()([x, short])", "begins": 0,
        "argument": {"text": "[x, short]", "line": 10, "begin": 17, "end": 27},
        "parts": [
            {"text": "x", "line": 10, "begin": 18, "end": 19},
            {"text": "short", "line": 10, "begin": 21, "end": 26},
        ],
    }  # fmt: skip
    add = layer("add", "Add", 10, "layers.Add()", given=[None, 32, 32, 32], others=[[None, 32, 32, 16]])
    add["made"] |= {"form": "applied", "use": use}
    message = "Inputs have incompatible shapes. Received shapes (32, 32, 32) and (32, 32, 16)"
    finding = found(message, add, failed="add")
    assert (finding.confidence, change(finding)) == (
        LIKELY,
        (10, "x = layers.Add()([x, layers.Conv2D(32, 1)(short)])"),
    )


def test_a_matrix_of_another_size_than_the_embedding() -> None:
    text = "model.add(layers.Embedding(300, 50, weights=[matrix]))"
    embedding = layer("emb", "Embedding", 5, "layers.Embedding(300, 50, weights=[matrix])", settings={"input_dim": 300})
    embedding["made"]["arguments"] = [
        {"text": "300", "line": 5, "begin": text.index("300"), "end": text.index("300") + 3},
        {"text": "50", "line": 5, "begin": text.index("50,"), "end": text.index("50,") + 2},
        {"name": "weights", "text": "[matrix]", "line": 5, "begin": text.index("["), "end": text.index("]") + 1},
    ]
    message = "Layer emb weight shape (300, 50) is not compatible with provided weight shape (301, 50)."
    finding = found(message, embedding, failed="emb")
    expected = "model.add(layers.Embedding(matrix.shape[0], 50, weights=[matrix]))"
    assert (finding.confidence, change(finding)) == (LIKELY, (5, expected))


def test_which_of_saved_and_own_shape_is_which() -> None:
    message = (
        "The shape of the target variable and the shape of the target value in `variable.assign(value)` must match. "
        "variable.shape=(16, 4), Received: value.shape=(16, 10). Target variable: <Variable path=m/out, shape=(16, 4)>"
    )
    cause = ended(raised("ValueError", message)).findings[0].cause
    assert cause == "Saved weights of shape [16, 10] do not match a layer of shape [16, 4]."


FIT = "model.fit(x, y, class_weight=weights)"
WEIGHTED = {
    "file": FILE, "line": 20, "lines": [FIT], "begin": 0, "end": len(FIT), "close": [20, len(FIT) - 1],
    "name": "model.fit", "arguments": [
        {"text": "x", "line": 20, "begin": 10, "end": 11},
        {"text": "y", "line": 20, "begin": 13, "end": 14},
        {"name": "class_weight", "text": "weights", "line": 20, "begin": 29, "end": 36},
    ],
}  # fmt: skip


def test_class_weight_with_a_label_for_each_step() -> None:
    message = "Dimensions must be equal, but are 20 and 32 for '{{node compile_loss/sparse/mul}} = Mul[](a, b)'"
    finding = found(message, DENSE, call=WEIGHTED, y_shape=[64, 20])
    expected = "model.fit(x, y, sample_weight=np.vectorize(weights.get, otypes=[float])(y))"
    assert (finding.rule, change(finding)) == ("shape-mismatch", (20, expected))
    other = found(message, DENSE, call=WEIGHTED, y_shape=[64])
    assert "class_weight" not in other.cause, "these labels are one for each sample"


def test_lists_of_different_lengths_in_an_object_array() -> None:
    fit = WEIGHTED | {"lines": ["model.fit(x, y)"], "arguments": WEIGHTED["arguments"][:2]}
    objects = {"kinds": ["list"], "shortest": 4, "longest": 11, "axes": 1}
    ragged = found("Invalid dtype: object", DENSE, call=fit, objects=objects, keras="tf.keras.")
    assert (ragged.rule, change(ragged)) == (
        "shape-mismatch",
        (20, "x = tf.keras.utils.pad_sequences(x)\nmodel.fit(x, y)"),
    )
    bare = found("Invalid dtype: object", DENSE, call=fit, objects=objects)
    assert (change(bare)[1] or "").startswith("from keras.utils import pad_sequences\n"), "nothing there names keras"
    same = found("Invalid dtype: object", DENSE, call=fit, objects=objects | {"longest": 4})
    assert same.rule == "dtype-mismatch", "lists of one length are another matter"


LATER = {
    "a batch": ("fit", "Find the batch that differs, and correct or leave out its data: 3 steps fitted"),
    "validation": ("evaluate", "Prepare the validation data as the training data: that fitted"),
}


@pytest.mark.parametrize("name", LATER)
def test_data_that_differs_after_steps_that_fitted_is_not_a_model_to_rebuild(name: str) -> None:
    function, does = LATER[name]
    message = "Input 0 of layer 'dense' is incompatible with the layer: expected axis -1 of input shape to have value "
    message += "24, but received input with shape (64, 16)"
    steps = [Step(n, 10.0 + n, 0.1, 0.0, 0.5, 0.01, 0, n - 1, 1) for n in (1, 2, 3)]
    began = written(9.0, "fit", {"id": 1, "epochs": 1})
    left = {"left": "fit", "function": function, "type": "ValueError", "bases": ["Exception"], "fit": 1}
    inside = written(59.0, "exception", left | {"message": message})
    finding = ended(began, inside, raised("ValueError", message), steps=steps).findings[0]
    assert [remedy.does for remedy in finding.remedies] == [does]
    at_once = ended(began, inside, raised("ValueError", message)).findings[0]
    assert at_once.remedies[0].change == "keras.Input(shape=(16,))"


def test_two_tensors_of_a_loss_are_labels_and_output() -> None:
    message = (
        "Dimensions must be equal, but are 3 and 23 for '{{node compile_loss/mean_squared_error/sub}} = Sub[](a, b)'"
    )
    message += " with input shapes: [32,3], [32,23]."
    finding = found(message, INPUT, DENSE)
    assert finding.cause == "The labels have 3 columns, but out (Dense) has 23 units (labels (32, 3), output (32, 23))."
    assert line(finding) == 12
    elsewhere = found(message.replace("compile_loss/mean_squared_error/", "net/"), INPUT, DENSE)
    assert "labels" not in elsewhere.cause
