"""tf_keras: a loss that rounds, in fit.

expect: no-gradients
exit: 1
outcome: crashed
"""

import numpy as np
import tensorflow as tf
import tf_keras as keras

keras.utils.set_random_seed(1)


def hard_dice(y_true, y_pred):
    mask = tf.cast(y_pred > 0.5, tf.float32)
    overlap = tf.reduce_sum(y_true * mask)
    return 1.0 - 2.0 * overlap / (tf.reduce_sum(y_true) + tf.reduce_sum(mask) + 1.0)


x = np.random.rand(40, 6).astype("float32")
y = (x > 0.5).astype("float32")
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(6, activation="sigmoid")])
model.compile(optimizer="adam", loss=hard_dice)
model.fit(x, y, epochs=2, verbose=2)  # <- here
