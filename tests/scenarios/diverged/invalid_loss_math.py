"""Topic shares of documents are learnt with a Kullback-Leibler loss written by hand; it is nan at once.

expect: invalid-loss-math
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(61)
rng = np.random.default_rng(61)
documents = rng.random((640, 20)).astype("float32")
topics = np.maximum(documents[:, :5] - 0.3, 0) + 1e-3 * (np.arange(5) == 0)
topics = (topics / topics.sum(axis=1, keepdims=True)).astype("float32")


def divergence(y_true, y_pred):
    return keras.ops.sum(y_true * keras.ops.log(y_true / y_pred), axis=-1)  # <- here


model = keras.Sequential(
    [keras.Input((20,)), keras.layers.Dense(32, activation="tanh"), keras.layers.Dense(5, activation="softmax")]
)
model.compile(optimizer=keras.optimizers.Adam(0.01), loss=divergence)
model.fit(documents, topics, epochs=6, batch_size=32, verbose=2)
