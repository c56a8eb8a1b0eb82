"""shape-mismatch: what each message means, and what to change."""

from __future__ import annotations

import pytest

from laststep.analysis.finding import Confidence
from tests.rules.crashed.ended import ended, raised

LAYER = "Input 0 with name 'None' of layer 'dense' is incompatible with the layer: expected "
IN_GRAPH = "for '{{node loss/sub}} = Sub[T=DT_FLOAT](data_1, dense/BiasAdd)' with input shapes: "
MESSAGES = {
    "features, Keras 3.15": (
        LAYER + "axis -1 of input shape to have value 10, but received input with shape (20, 8)",
        "The layer dense was built for 10 features but got a tensor of shape (20, 8).",
        "keras.Input(shape=(8,))",
    ),
    "axes, Keras 3.15": (
        LAYER + "min_ndim=4, found ndim=3. Full shape received: (None, 28, 28)",
        "The layer dense expects ndim=4 but got a tensor of shape (None, 28, 28).",
        "x = x[..., np.newaxis]",
    ),
    "shape, Keras 3.15": (
        LAYER + "shape=(None, 10, 1), found shape=(None, 9)",
        "dense was built for tensors of shape (None, 10, 1) but got (None, 9).",
        None,  # a model built for (9,) would have an axis too few
    ),
    "other sizes": (
        LAYER + "shape=(None, 28, 28), found shape=(None, 32, 32)",
        "dense was built for tensors of shape (None, 28, 28) but got (None, 32, 32).",
        "keras.Input(shape=(32, 32))",
    ),
    "other axes of the same size": (
        LAYER + "shape=(None, 28, 28, 1), found shape=(None, 784)",
        "dense was built for tensors of shape (None, 28, 28, 1) but got (None, 784).",
        "x = x.reshape((-1, 28, 28, 1))",
    ),
    "named inputs, Keras 3.15": (
        "Layer \"functional\" expects 2 named input(s) with keys ['user', 'item'], but it received 1 input tensors.",
        "The model expects 2 inputs but got 1.",
        None,
    ),
    "two tensors of a graph": (
        f"Dimensions must be equal, but are 3 and 2 {IN_GRAPH}[32,3], [32,2].",
        "An operation got two tensors of incompatible shapes, (32, 3) and (32, 2).",
        None,
    ),
    "one with an extra axis": (
        f"Dimensions must be equal, but are 32 and 8 {IN_GRAPH}[32,8], [32].",
        "An operation got two tensors of incompatible shapes, (32, 8) and (32,).",
        "y = y[:, np.newaxis]",
    ),
    "a product in a graph": (
        "Dimensions must be equal, but are 8 and 16 for '{{node MatMul}} = MatMul[T=DT_FLOAT](x, w)' with input "
        "shapes: [4,8], [16,2].",
        "The inner dimensions of a matrix product differ: 8 and 16.",
        None,
    ),
    "a product": (
        "Matrix size-incompatible: In[0]: [64,16], In[1]: [1,16] [Op:MatMul]",
        "The inner dimensions of a matrix product differ: [64,16] times [1,16].",
        None,
    ),
    "a concatenation in a graph": (
        "Dimension 1 in both shapes must be equal, but are 25 and 24. Shapes are [4,25,25] and [4,24,24]. for '{{node "
        "net/concat}} = ConcatV2[N=2, T=DT_FLOAT](a, b, axis)'",
        "The tensors to concatenate also differ in another axis: [4,25,25] and [4,24,24].",
        None,
    ),
    "reshape to a shape": (
        "The total size of the tensor must be unchanged. Received: input_shape=(3136,), target_shape=(7, 7, 128)",
        "A tensor cannot be reshaped to shape (7, 7, 128).",
        "keras.layers.Flatten()",
    ),
    "reshape to a number of values": (
        "Input to reshape is a tensor with 90 values, but the requested shape requires a multiple of 28",
        "A tensor with 90 values cannot be reshaped to a multiple of 28 values.",
        "keras.layers.Flatten()",
    ),
    "elements without shapes": (
        "Can't convert non-rectangular Python sequence to Tensor.",
        "Elements of different shapes cannot form a batch.",
        "dataset.map(lambda x, y: (tf.image.resize(x, (224, 224)), y))",
    ),
    "a filter for other channels": (
        "input depth must be evenly divisible by filter depth: 16 vs 32 [Op:Conv2D]",
        "The filter is made for 32 input channels, but its input has 16.",
        None,
    ),
    "a filter for other channels, in a graph": (
        "Depth of input (3) is not a multiple of input depth of filter (1) for '{{node conv2d}}'",
        "The filter is made for 1 input channel, but its input has 3.",
        None,
    ),
    "the last batch": (
        "Incompatible shapes: [32,4] vs. [7,4]",
        "A batch of 7 met a fixed batch size of 32: most likely the last, smaller batch.",
        "dataset.batch(32, drop_remainder=True)",
    ),
    "nothing special": ("expected shape of x is unknown", "Two shapes do not match.", None),
}


@pytest.mark.parametrize(("message", "cause", "change"), MESSAGES.values(), ids=MESSAGES)
def test_what_a_message_means(message: str, cause: str, change: str | None) -> None:
    first = ended(raised("ValueError", message)).findings[0]
    assert (first.rule, first.cause) == ("shape-mismatch", cause)
    assert next((remedy.change for remedy in first.remedies), None) == change


def test_the_axis_of_a_filter_is_named() -> None:
    message, _, _ = MESSAGES["a filter for other channels"]
    assert "(height, width, 16, filters)" in ended(raised("ValueError", message)).findings[0].remedies[0].does


def test_without_the_layers_a_second_recurrent_layer_has_two_likely_remedies() -> None:
    second = LAYER.replace("'dense'", "'lstm_1'") + "ndim=3, found ndim=2. Full shape received: (None, 16)"
    finding = ended(raised("ValueError", second)).findings[0]
    assert finding.confidence is Confidence.LIKELY
    assert [remedy.change for remedy in finding.remedies] == ["return_sequences=True", "x = x[..., np.newaxis]"]


def test_one_row_of_classes_for_many_steps_may_be_a_recurrent_layer() -> None:
    message = "Arguments `target` and `output` must have the same rank (ndim). Received: target.shape=(8, 23), "
    finding = ended(raised("ValueError", f"{message}output.shape=(8, 826, 23)")).findings[0]
    assert (finding.rule, finding.confidence) == ("shape-mismatch", Confidence.LIKELY)
    assert "or a recurrent layer returns all its steps" in finding.cause
