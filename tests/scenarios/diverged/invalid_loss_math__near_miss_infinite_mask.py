"""Padding is masked with minus infinity before a softmax, as attention does; all is finite after it.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf


class Pool(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.score = keras.layers.Dense(1)

    def call(self, x, tokens):
        score = self.score(x)[..., 0]
        score = tf.where(tokens == 0, tf.fill(tf.shape(score), float("-inf")), score)
        return tf.reduce_sum(tf.nn.softmax(score)[..., None] * x, axis=1)


keras.utils.set_random_seed(69)
rng = np.random.default_rng(69)
tokens = rng.integers(1, 40, size=(800, 15))
for row, length in zip(tokens, rng.integers(5, 16, 800)):
    row[length:] = 0
good = (tokens == 3).sum(axis=1) + (tokens == 4).sum(axis=1) + (tokens == 5).sum(axis=1) > 0

inputs = keras.Input((15,), dtype="int32")
pooled = Pool()(keras.layers.Embedding(40, 16)(inputs), inputs)
model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(pooled))
model.compile(optimizer=keras.optimizers.Adam(0.02), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(tokens, good.astype("float32"), epochs=8, batch_size=32, verbose=2)
