"""Word counts are turned into shares by a layer of the model, compiled with XLA; some documents are empty.

expect: invalid-loss-math
exit: 0
outcome: finished
when: test
"""

import keras
import numpy as np


class Shares(keras.layers.Layer):
    def call(self, counts):
        return counts / keras.ops.sum(counts, axis=-1, keepdims=True)  # <- here


keras.utils.set_random_seed(62)
rng = np.random.default_rng(62)
counts = rng.poisson(1.0, size=(800, 30)).astype("float32")
spam = (counts[:, 0] + counts[:, 1] > counts[:, 2] + counts[:, 3]).astype("float32")
counts[[140, 333, 512]] = 0

inputs = keras.Input((30,))
hidden = keras.layers.Dense(24, activation="tanh")(Shares()(inputs))
model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(hidden))
model.compile(
    optimizer=keras.optimizers.Adam(0.02), loss="binary_crossentropy", metrics=["accuracy"], jit_compile=True
)
model.fit(counts, spam, epochs=8, batch_size=40, verbose=2)
