"""Names of older versions: the user's own line as it is to be, for what Keras 3.15, TensorFlow 2.21, NumPy 2 raise."""

from __future__ import annotations

import pytest

from laststep.analysis.replacements import find_old_name
from tests.rules.crashed import ended as runs

NO_SUCH = "'{}' object has no attribute '{}'"
LACKS = "module '{}' has no attribute '{}'"
UNKNOWN = "Unrecognized keyword arguments passed to {}: {{'{}': 1}}"
UNEXPECTED = "{}() got an unexpected keyword argument '{}'"


def replaced(line: str, message: str, kind: str = "ValueError") -> str | None:
    """The change that is proposed for an error of this line; None where the name is not known."""
    error = runs.raised(kind, message)
    placed = runs.written(60.0, "exception", {**vars_of(error), "where": {"file": "t.py", "line": 3, "text": line}})
    found = find_old_name(runs.ended(placed).run)
    return found.replacement.change if found is not None else None


def vars_of(error: object) -> dict[str, object]:
    return {name: getattr(error, name) for name in ("left", "type", "bases", "message")}


@pytest.mark.parametrize(
    ("line", "message", "change"),
    [
        ("opt = SGD(lr=0.1, momentum=0.9)  # as before", "Argument(s) not recognized: {'lr': 0.1}",
         "opt = SGD(learning_rate=0.1, momentum=0.9)"),
        ("model.fit(x, y, nb_epoch=3)", UNEXPECTED.format("TensorFlowTrainer.fit", "nb_epoch"),
         "model.fit(x, y, epochs=3)"),
        ("model.fit(gen, workers=4, epochs=2, use_multiprocessing=True)",
         UNEXPECTED.format("TensorFlowTrainer.fit", "workers"), "model.fit(gen, epochs=2)"),
        ("model.fit(workers=4, x=gen)", UNEXPECTED.format("TensorFlowTrainer.fit", "workers"), "model.fit(x=gen)"),
        ("model.add(Dense(4, init='uniform'))", UNKNOWN.format("Dense", "init"),
         "model.add(Dense(4, kernel_initializer='uniform'))"),
        ("model = Model(input=a, output=[b, c])", UNKNOWN.format("Model", "input"),
         "model = Model(inputs=a, outputs=[b, c])"),
        ("opt = Adam(lr=0.1,", "Argument(s) not recognized: {'lr': 0.1}", "opt = Adam(learning_rate=0.1,"),
        ("opt = Adam(", "Argument(s) not recognized: {'lr': 0.1}", "learning_rate=…"),
        ("model.save(\"out/m\", save_format=\"tf\")", "The `save_format` argument is deprecated in Keras 3. Please",
         'model.save("out/m.keras")'),
        ("model.save('out/m')", "Invalid filepath extension for saving. Please add. Received: filepath=out/m.",
         "model.save('out/m.keras')"),
        ("model.save_weights(path)", "The filename must end in `.weights.h5`. Received: filepath=w.h5",
         "'w.weights.h5'"),
    ],
)  # fmt: skip
def test_an_argument(line: str, message: str, change: str) -> None:
    assert replaced(line, message) == change


@pytest.mark.parametrize(
    ("line", "kind", "name", "change"),
    [
        ("h = model.fit_generator(gen, steps_per_epoch=9, workers=2)", "Sequential", "fit_generator",
         "h = model.fit(gen, steps_per_epoch=9)"),
        ("p = model.predict_classes(x, batch_size=9)", "MyNet", "predict_classes",
         "p = model.predict(x, batch_size=9).argmax(axis=-1)"),
        ("print(K.get_value(model.optimizer.lr))", "Adam", "lr", "print(K.get_value(model.optimizer.learning_rate))"),
        ("print(layer.output_shape)", "Dense", "output_shape", "print(layer.output.shape)"),
        ("if settings.lr > 1:", "Settings", "lr", None),
        ("p = forest.predict_proba(x)", "RandomForestClassifier", "predict_proba", None),
        ("model.fitt(x)", "Sequential", "fitt", None),
    ],
)  # fmt: skip
def test_an_attribute(line: str, kind: str, name: str, change: str | None) -> None:
    assert replaced(line, NO_SUCH.format(kind, name), "AttributeError") == change


@pytest.mark.parametrize(
    ("line", "message", "change"),
    [
        ("from keras.layers.core import Dense, Dropout", "No module named 'keras.layers.core'",
         "from keras.layers import Dense, Dropout"),
        ("from keras.utils import np_utils", "cannot import name 'np_utils' from 'keras.utils' (/x)",
         "from keras import utils as np_utils"),
        ("y = keras.utils.np_utils.to_categorical(y)", LACKS.format("keras.utils", "np_utils"),
         "y = keras.utils.to_categorical(y)"),
        ("from keras.engine.training import Model", "No module named 'keras.engine'", "from keras.models import Model"),
        ("from keras.objectives import mse", "No module named 'keras.objectives'",
         "from keras.losses import mean_squared_error as mse"),
        ("from keras.preprocessing.image import ImageDataGenerator, load_img",
         "cannot import name 'ImageDataGenerator' from 'keras.preprocessing.image' (/x)",
         "from tensorflow.keras.preprocessing.image import ImageDataGenerator, load_img"),
        ("x = layers.experimental.preprocessing.Rescaling(1 / 255)(x)",
         LACKS.format("tensorflow.keras.layers", "experimental"), "x = layers.Rescaling(1 / 255)(x)"),
        ("from tensorflow.keras.layers.experimental import preprocessing",
         "No module named 'tensorflow.keras.layers.experimental'",
         "from tensorflow.keras import layers as preprocessing"),
        ("loss = K.mean(np.mean(a) * b, axis=0)", LACKS.format("keras.backend", "mean"),
         "loss = keras.ops.mean(np.mean(a) * b, axis=0)"),
        ("x = K.flatten(x)", LACKS.format("keras.backend", "flatten"), "from tensorflow.keras import backend as K"),
        ("x = K.flattten(x)", LACKS.format("keras.backend", "flattten"), None),
        ("loss = -tf.log(p) * np.log(2)", LACKS.format("tensorflow", "log"), "loss = -tf.math.log(p) * np.log(2)"),
        ("s = tf.Session()", LACKS.format("tensorflow", "Session"),
         "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()"),
        ("a = np.array(x, dtype=np.float)", LACKS.format("numpy", "float") + ".\n`np.float` was a deprecated alias for "
         "the builtin `float`. To avoid this error", "a = np.array(x, dtype=float)"),
        ("best = np.Inf", "`np.Inf` was removed in the NumPy 2.0 release. Use `np.inf` instead.", "best = np.inf"),
    ],
)  # fmt: skip
def test_a_name_in_a_module(line: str, message: str, change: str | None) -> None:
    assert replaced(line, message, "ImportError") == change
