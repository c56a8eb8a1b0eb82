"""The batch size is written into the model, and the last batch is smaller.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
BATCH_SIZE = 32


class Attention(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.score = keras.layers.Dense(1)
        self.project = keras.layers.Dense(units)

    def call(self, sequence):
        weights = tf.nn.softmax(self.score(sequence), axis=1)
        context = tf.reduce_sum(weights * sequence, axis=1)
        state = tf.zeros((BATCH_SIZE, 8))
        return self.project(tf.concat([context, state], axis=-1))  # <- here


x = np.random.rand(150, 6, 4).astype("float32")
y = x.sum(axis=(1, 2))
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH_SIZE)

model = keras.Sequential([Attention(8), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=3, verbose=2)
