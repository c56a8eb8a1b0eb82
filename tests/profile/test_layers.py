"""From TensorFlow's scopes back to the names that the user gave."""

from __future__ import annotations

import pytest

from laststep.profile.layers import LOSS, OPTIMIZER, OTHER, Layers, op_type, tree

ROWS = [
    [-1, "sequential"], [0, "dense"], [0, "dense_1"], [0, "dense_2"], [0, "encoder"], [4, "dense"], [4, "inner"]
]  # fmt: skip
# As TensorFlow 2.21 with Keras 3.15 names them: a model that was built before it is trained is traced a second time.
SECOND = {
    "dense": "sequential_1/dense_1",
    "dense_1": "sequential_1/dense_1_2",
    "dense_2": "sequential_1/dense_2_1",
    "encoder/dense": "sequential_1/encoder_1/dense_1",
    "encoder/inner": "sequential_1/encoder_1/inner_1",
}
FIRST = {name: f"sequential/{name}" for name in SECOND}
CALLED_ALONE = {name: name for name in SECOND}


@pytest.mark.parametrize("scopes", [FIRST, SECOND, CALLED_ALONE])
def test_scopes_are_the_user_s_layers(scopes):
    ops = [f"StatefulPartitionedCall/{scope}/MatMul" for scope in scopes.values()]
    ops += [f"StatefulPartitionedCall/gradient_tape/{scope}/MatMul/MatMul_1" for scope in scopes.values()]
    layers = Layers(tree(ROWS), ops)
    half = len(scopes)
    for name, forward, backward in zip(scopes, ops[:half], ops[half:], strict=True):
        assert layers.of(forward) == (name, False)
        assert layers.of(backward) == (name, True)


def test_a_loop_inside_a_layer_is_the_layer_s():
    name = (
        "StatefulPartitionedCall/gradient_tape/net_1/bidirectional_1/backward_lstm_1/while/net_1/bidirectional_1/"
        "backward_lstm_1/while_grad/body/_372/gradients/lstm_cell_1/MatMul_grad/MatMul"
    )
    layers = Layers(tree([[-1, "net"], [0, "bidirectional"], [0, "last"]]), [name])
    assert layers.of(name) == ("bidirectional", True)


@pytest.mark.parametrize(
    ("op", "owner"),
    [
        ("StatefulPartitionedCall/compile_loss/mse/sub", LOSS),
        ("gradient_tape/mean_squared_error/weighted_loss/Mul", LOSS),
        ("StatefulPartitionedCall/adam_2/Sub_3", OPTIMIZER),
        ("Adam/Sqrt_1", OPTIMIZER),
        ("StatefulPartitionedCall/my_way/Sub", OPTIMIZER),
        ("StatefulPartitionedCall/Add_1/ReadVariableOp", OTHER),
        ("MatMul", OTHER),
        ("", OTHER),
    ],
)
def test_what_is_no_layer_s_has_a_name_too(op, owner):
    assert Layers(tree(ROWS), [op], ["my_way"]).of(op)[0] == owner


def test_a_model_s_own_ops_are_the_model_s():
    assert Layers(tree(ROWS), ["sequential/Cast"]).of("sequential/Cast") == ("sequential", False)


def test_a_parent_that_is_not_there_and_a_very_deep_model():
    deep = [(number - 1, "a") for number in range(5000)]
    layers = Layers(tree([(99, "dense"), *deep]), ["dense/MatMul", "a/" * 3000])
    assert layers.of("dense/MatMul") == ("dense", False)


def test_op_types_lose_the_library_s_prefix():
    assert [op_type(name) for name in ("_MklNativeFusedMatMul", "_MklMatMul", "_FusedConv2D", "Sub")] == [
        "FusedMatMul", "MatMul", "FusedConv2D", "Sub"
    ]  # fmt: skip
