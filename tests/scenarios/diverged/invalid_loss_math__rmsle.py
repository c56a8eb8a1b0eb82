"""Bicycle rentals are scored by the error of their logarithms, so that is the loss too.

expect: invalid-loss-math
exit: 0
outcome: finished
"""

import numpy as np
import tensorflow as tf
import tf_keras

tf_keras.utils.set_random_seed(65)
rng = np.random.default_rng(65)
days = rng.normal(size=(900, 7)).astype("float32")
rentals = np.maximum(2 + 1.5 * days[:, 0] - days[:, 3], 0).astype("float32")


def rmsle(y_true, y_pred):
    difference = tf.math.log(1.0 + y_pred) - tf.math.log(1.0 + y_true)  # <- here
    return tf.reduce_mean(tf.square(difference), axis=-1)


model = tf_keras.Sequential(
    [
        tf_keras.layers.Input((7,)),
        tf_keras.layers.Dense(32, activation="tanh"),
        tf_keras.layers.Dense(1),
    ]
)
model.compile(optimizer=tf_keras.optimizers.Adam(0.003), loss=rmsle, metrics=["mae"])
model.fit(days, rentals[:, None], epochs=6, batch_size=30, validation_split=0.1, verbose=2)
