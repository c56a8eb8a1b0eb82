"""The same kind of divergence by hand, with a small number inside the logarithm.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(67)
rng = np.random.default_rng(67)
answers = rng.random((640, 12)).astype("float32")
shares = np.maximum(answers[:, :4] - 0.4, 0) + 1e-3
shares[:, 3] = np.maximum(answers[:, 3] - 0.6, 0)
shares = (shares / shares.sum(axis=1, keepdims=True)).astype("float32")


def divergence(y_true, y_pred):
    return keras.ops.sum(y_true * keras.ops.log((y_true + 1e-7) / (y_pred + 1e-7)), axis=-1)


model = keras.Sequential([keras.layers.Dense(32, activation="tanh"), keras.layers.Dense(4, activation="softmax")])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss=divergence)
model.fit(answers, shares, epochs=6, batch_size=32, verbose=2)
