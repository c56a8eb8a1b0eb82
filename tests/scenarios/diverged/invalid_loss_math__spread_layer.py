"""A layer pools a temperature series by its mean and its spread, as the root of E[x2] - E[x]2.

expect: invalid-loss-math
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf


class MeanAndSpread(keras.layers.Layer):
    def call(self, x):
        mean = tf.reduce_mean(x, axis=1)
        square = tf.reduce_mean(x * x, axis=1)
        return tf.concat([mean, tf.sqrt(square - mean * mean)], axis=-1)  # <- here


keras.utils.set_random_seed(64)
rng = np.random.default_rng(64)
series = (0.3 * rng.normal(size=(600, 30, 2)) + rng.uniform(1, 3, size=(600, 1, 2))).astype("float32")
failing = rng.integers(0, 2, 600)
series[failing == 1, :, 0] += 0.8 * rng.normal(size=(int(failing.sum()), 30))
series[50:80, :, 1] = series[50:80, :1, 1]

model = keras.Sequential(
    [keras.Input((30, 2)), MeanAndSpread(), keras.layers.Dense(16, activation="elu"), keras.layers.Dense(2)]
)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer=keras.optimizers.Adam(0.01), loss=loss, metrics=["accuracy"])
model.fit(series, failing, epochs=6, batch_size=30, verbose=2)
