"""Names of Keras 1 and 2, TensorFlow 1 and NumPy 1 that the present versions do not have: what replaces each."""

from __future__ import annotations

import re
from collections.abc import Mapping


def words(text: str) -> frozenset[str]:
    """A set of names, written as a line of them."""
    return frozenset(text.split())


# Keyword arguments: the present name, or None where the argument can be left out.
ARGUMENTS: Mapping[str, tuple[str, str | None]] = {
    "lr": ("it is called learning_rate now", "learning_rate"),
    "decay": ("a learning rate schedule replaces it", None),
    "nb_epoch": ("it is called epochs now", "epochs"),
    "init": ("it is called kernel_initializer now", "kernel_initializer"),
    "W_regularizer": ("it is called kernel_regularizer now", "kernel_regularizer"),
    "b_regularizer": ("it is called bias_regularizer now", "bias_regularizer"),
    "W_constraint": ("it is called kernel_constraint now", "kernel_constraint"),
    "border_mode": ("it is called padding now", "padding"),
    "subsample": ("it is called strides now", "strides"),
    "nb_filter": ("it is called filters now", "filters"),
    "output_dim": ("it is called units now", "units"),
    "p": ("it is called rate now", "rate"),
    "input": ("it is called inputs now", "inputs"),
    "output": ("it is called outputs now", "outputs"),
    "batch_input_shape": ("keras.Input(batch_shape=…) as the first layer replaces it", None),
    "period": ('save_freq="epoch" saves after each epoch', None),
    "workers": ("Keras 3 takes it in PyDataset(workers=…)", None),
    "use_multiprocessing": ("Keras 3 takes it in PyDataset(use_multiprocessing=…)", None),
    "max_queue_size": ("Keras 3 takes it in PyDataset(max_queue_size=…)", None),
    "sample_weight_mode": ("weights of any shape that fits the loss are accepted without it", None),
    "experimental_run_tf_function": ("there is one way to run a step now", None),
    "time_major": ("the sequences are batch-major: transpose them", None),
    "mode": ("there is only one mode now", None),
    "dim_ordering": ('it is called data_format now, and "tf" is "channels_last"', None),
    "fused": ("Keras chooses the fused kernel itself", None),
    "write_grads": ("gradients are no longer written", None),
    "save_format": ("the file's ending says the format: .keras or .h5", None),
}
# Methods and attributes of models, layers and optimizers: what is said, and the new text (see with_attribute).
ATTRIBUTES: Mapping[str, tuple[str, str]] = {
    "fit_generator": ("fit takes generators now", "{object}.fit"),
    "evaluate_generator": ("evaluate takes generators now", "{object}.evaluate"),
    "predict_generator": ("predict takes generators now", "{object}.predict"),
    "predict_classes": (
        "predict gives the probabilities; the class is the largest of them",
        "{object}.predict({arguments}).argmax(axis=-1)",
    ),
    "predict_proba": ("predict gives the probabilities", "{object}.predict"),
    "reset_states": (
        "each recurrent layer is reset by itself",
        '[layer.reset_state({arguments}) for layer in {object}.layers if getattr(layer, "stateful", False)]',
    ),
    "lr": ("it is called learning_rate now", "{object}.learning_rate"),
    "weights": ("it is called variables now", "{object}.variables"),
    "get_weights": ("the values are in variables", "[variable.numpy({arguments}) for variable in {object}.variables]"),
    "output_shape": ("it is the shape of output", "{object}.output.shape"),
    "input_shape": ("it is the shape of input", "{object}.input.shape"),
}
UNMISTAKABLE = ("fit_generator", "evaluate_generator", "predict_generator", "predict_classes")
ONE_PROBABILITY = "({object}.predict({arguments}) > 0.5).astype(int)"  # predict_classes of a model with one unit
OF_KERAS = re.compile(
    r"Sequential|Functional|Model|SGD|RMSprop|Ada\w+|Nadam|Ftrl|Lion|Lamb|Muon|LossScaleOptimizer|Dense|Conv\dD\w*|"
    r"LSTM|GRU|SimpleRNN|Embedding|Flatten|Dropout|Activation|Input\w*|\w+Pooling\dD|Reshape|Bidirectional|"
    r"BatchNormalization|LayerNormalization|Add|Concatenate|TimeDistributed"
)
# Arguments of fit that stand together, and those whose place something else must take.
OF_WORKERS = ("workers", "use_multiprocessing", "max_queue_size", "max_q_size", "nb_worker", "pickle_safe")
INPUT_AND_OUTPUT = ("input", "output")
NOT_JUST_LEFT_OUT = ("decay", "dim_ordering", "batch_input_shape", "time_major", "save_format")
# Modules, and names in them, whose content is elsewhere now. For `tensorflow.keras`, too.
MOVED: Mapping[str, str] = {
    **{f"keras.layers.{name}": "keras.layers" for name in (
        "core", "convolutional", "recurrent", "normalization", "advanced_activations", "embeddings", "merge",
        "wrappers", "pooling", "noise", "local", "experimental", "experimental.preprocessing")},
    **{f"keras.utils.{name}": "keras.utils" for name in (
        "np_utils", "vis_utils", "data_utils", "generic_utils", "layer_utils", "all_utils")},
    "keras.optimizers.legacy": "keras.optimizers",
    "keras.optimizers.experimental": "keras.optimizers",
    "keras.mixed_precision.experimental": "keras.mixed_precision",
    "keras.engine": "keras.layers",
    "keras.engine.topology": "keras.layers",
    "keras.engine.base_layer": "keras.layers",
    "keras.engine.training": "keras.models",
    "keras.engine.sequential": "keras.models",
    "keras.objectives": "keras.losses",
    "keras.initializations": "keras.initializers",
    "keras.callbacks.callbacks": "keras.callbacks",
    "keras.preprocessing.text": "tensorflow.keras.preprocessing.text",
    "keras.preprocessing.image.ImageDataGenerator": "tensorflow.keras.preprocessing.image",
    "keras.preprocessing.sequence.TimeseriesGenerator": "tensorflow.keras.preprocessing.sequence",
}  # fmt: skip
RENAMED: Mapping[str, str] = {
    "keras.layers.CuDNNLSTM": "LSTM",
    "keras.layers.CuDNNGRU": "GRU",
    "keras.losses.mse": "mean_squared_error",
    "keras.losses.MSE": "mean_squared_error",
    "keras.losses.mae": "mean_absolute_error",
    "keras.losses.MAE": "mean_absolute_error",
    "keras.optimizers.adam": "Adam",
    "keras.optimizers.sgd": "SGD",
    "keras.optimizers.rmsprop": "RMSprop",
    "keras.optimizers.adam_v2.Adam": "Adam",
    "keras.regularizers.l1l2": "l1_l2",
    "keras.initializers.normal": "random_normal",
    "keras.initializers.uniform": "random_uniform",
}
# Lines that import a module which is not one any more, under a name that the program goes on using.
IMPORTS = (
    (re.compile(r"from (tensorflow\.)?keras\.utils import np_utils"), r"from \1keras import utils as np_utils"),
    (
        re.compile(r"from (tensorflow\.)?keras\.layers\.experimental import preprocessing"),
        r"from \1keras import layers as preprocessing",
    ),
    (re.compile(r"from keras\.preprocessing import text\b"), "from tensorflow.keras.preprocessing import text"),
    (re.compile(r"from keras\.engine import (.*\bModel\b)"), r"from keras.models import \1"),
    (re.compile(r"\.experimental\.preprocessing\b"), ""),
    (re.compile(r"mixed_precision\.experimental\.set_policy"), "mixed_precision.set_global_policy"),
)
# Functions of keras.backend that keras.ops has under the same name, with the same arguments and defaults.
IN_OPS = words(
    "abs all any cast clip cos equal exp greater greater_equal less less_equal log max maximum mean min minimum "
    "not_equal one_hot ones_like prod relu reshape round shape sigmoid sign sin softmax softplus sqrt square std "
    "stop_gradient sum tanh transpose var zeros_like"
)
# Those that are left in tf.keras.backend only, or have other arguments in keras.ops.
IN_TF_KERAS = words(
    "argmax argmin batch_dot batch_flatten batch_get_value batch_set_value bias_add binary_crossentropy cast_to_floatx "
    "categorical_crossentropy concatenate constant conv1d conv2d conv2d_transpose conv3d count_params ctc_batch_cost "
    "ctc_decode cumprod cumsum dot dtype eval expand_dims eye flatten foldl foldr gather get_value hard_sigmoid "
    "in_top_k int_shape l2_normalize map_fn ndim ones permute_dimensions pool2d pow random_normal random_uniform "
    "repeat repeat_elements resize_images reverse rnn set_value sparse_categorical_crossentropy squeeze stack switch "
    "tile truncated_normal update update_add update_sub variable"
)
NOT_ANYWHERE = words(
    "function gradients get_session set_session in_test_phase in_train_phase learning_phase learning_phase_scope "
    "set_learning_phase placeholder tensorflow_backend tf"
)
BACKEND = "from tensorflow.keras import backend as K"
BACKENDS = ("K", "backend", "keras.backend", "tf.keras.backend")
# TensorFlow 1.
TENSORFLOW: Mapping[str, str] = {
    "log": "math.log", "set_random_seed": "random.set_seed", "random_normal": "random.normal",
    "random_uniform": "random.uniform", "truncated_normal": "random.truncated_normal", "is_nan": "math.is_nan",
    "is_inf": "math.is_inf", "ceil": "math.ceil", "div": "math.divide", "mod": "math.floormod", "mul": "multiply",
    "sub": "subtract", "neg": "negative", "pack": "stack", "unpack": "unstack", "read_file": "io.read_file",
    "decode_raw": "io.decode_raw", "parse_single_example": "io.parse_single_example",
    "FixedLenFeature": "io.FixedLenFeature", "VarLenFeature": "io.VarLenFeature", "gfile": "io.gfile",
    "matrix_inverse": "linalg.inv", "diag": "linalg.diag", "py_func": "numpy_function",
    "depth_to_space": "nn.depth_to_space",
}  # fmt: skip
TENSORFLOW_1 = words(
    "Session InteractiveSession placeholder global_variables_initializer ConfigProto GPUOptions get_variable "
    "variable_scope reset_default_graph get_default_graph layers app flags Saver enable_eager_execution rnn_cell "
    "GradientDescentOptimizer AdamOptimizer RMSPropOptimizer MomentumOptimizer FileWriter to_float to_int32 assign "
    "trainable_variables global_variables sparse_placeholder logging"
)
AS_TENSORFLOW_1 = "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()"
# Names that NumPy removed without a word about it.
NUMPY_NAMES: Mapping[str, str] = {
    "product": "prod", "cumproduct": "cumprod", "alltrue": "all", "sometrue": "any", "in1d": "isin",
    "trapz": "trapezoid", "row_stack": "vstack", "asfarray": "asarray", "msort": "sort", "round_": "round",
}  # fmt: skip
NUMPY = re.compile(r"`np\.(?P<old>\w+)` was [^\n]*?(?:[Uu]se `(?P<new>np\.\w+)` instead|builtin `(?P<builtin>\w+)`)")
