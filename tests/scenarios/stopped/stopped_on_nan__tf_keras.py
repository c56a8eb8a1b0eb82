"""tf_keras, and a log(0) in the loss.

expect: invalid-loss-math
also: stopped-on-nan
exit: 0
outcome: stopped
"""

import numpy as np
import tensorflow as tf
import tf_keras

tf_keras.utils.set_random_seed(1)


def nll(y_true, y_pred):
    return -tf.reduce_mean(y_true * tf.math.log(tf.nn.relu(y_pred)))  # <- here


x = np.random.randn(128, 4).astype("float32")
y = np.ones((128, 1), "float32")
model = tf_keras.Sequential([tf_keras.layers.Dense(16), tf_keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss=nll)
model.fit(x, y, epochs=5, callbacks=[tf_keras.callbacks.TerminateOnNaN()], verbose=2)
