"""A search over learning rates builds a new model in each turn.

expect: graphs-accumulating
exit: 0
outcome: finished
seconds: 240
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(640, 64).astype("float32")
y = x.sum(axis=1)


def build(rate):
    layers = [keras.layers.Dense(64, activation="relu") for _ in range(12)]
    model = keras.Sequential([keras.Input((64,)), *layers, keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.Adam(rate), loss="mse")
    return model


for turn in range(1, 25):
    model = build(1e-4 * turn)  # <- here
    model.fit(x, y, epochs=1, batch_size=320, verbose=0)
    keras.backend.clear_session()
