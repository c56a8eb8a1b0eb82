"""Attention written by hand as exp(score) / sum, run in half precision.

expect: float16-overflow
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(53)
keras.mixed_precision.set_global_policy("mixed_float16")  # <- here
rng = np.random.default_rng(53)
tokens = rng.integers(2, 60, size=(640, 20))
urgent = rng.integers(0, 2, 640)
tokens[urgent == 1, rng.integers(0, 20, urgent.sum())] = 1


class Attention(keras.layers.Layer):
    def build(self, shape):
        self.query = self.add_weight(shape=(shape[-1], 1), initializer=keras.initializers.RandomNormal(stddev=4.0))

    def call(self, x):
        weight = tf.exp(tf.matmul(x, tf.cast(self.query, x.dtype)))
        return tf.reduce_sum(weight * x, axis=1) / tf.reduce_sum(weight, axis=1)


model = keras.Sequential(
    [
        keras.Input((20,)),
        keras.layers.Embedding(60, 16, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.7)),
        Attention(),
        keras.layers.Dense(1, activation="sigmoid", dtype="float32"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(0.02), loss="binary_crossentropy", metrics=["accuracy"])
data = tf.data.Dataset.from_tensor_slices((tokens, urgent)).shuffle(640, seed=1).batch(32)
model.fit(data, epochs=8, verbose=2)
