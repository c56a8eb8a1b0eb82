"""Gated experts: for each sample one of four is on, the others give zeros.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(48)
rng = np.random.default_rng(48)
region = rng.integers(0, 4, 1200)
weather = rng.normal(size=(1200, 5)).astype("float32")
slopes = rng.normal(size=(4, 5)).astype("float32")
sales = (weather * slopes[region]).sum(axis=1)


class Experts(keras.Model):
    def __init__(self):
        super().__init__()
        self.experts = [keras.layers.Dense(12, activation="relu") for _ in range(4)]
        self.heads = [keras.layers.Dense(1) for _ in range(4)]

    def call(self, inputs):
        x, where = inputs
        gate = tf.one_hot(where, 4)
        parts = [head(expert(x) * gate[:, i : i + 1]) for i, (expert, head) in enumerate(zip(self.experts, self.heads))]
        return tf.add_n(parts)


model = Experts()
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
model.fit((weather, region), sales, epochs=8, batch_size=30, verbose=2)
