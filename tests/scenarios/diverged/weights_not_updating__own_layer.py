"""A layer of one's own from the days of Keras 2, its weights made with tf.Variable, in Keras 3.

expect: weights-not-updating
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(77)
rng = np.random.default_rng(77)


class Projection(keras.layers.Layer):
    def __init__(self, inputs, units, activation=None):
        super().__init__()
        self.w = tf.Variable(tf.random.normal((inputs, units), stddev=inputs ** -0.5), trainable=True)
        self.act = keras.activations.get(activation)

    def call(self, x):
        return self.act(tf.matmul(x, self.w))


inputs = keras.Input((12,))
x = Projection(12, 32, "relu")(inputs)
x = Projection(32, 1)(x)
model = keras.Model(inputs, x)
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")

table = rng.normal(size=(960, 12)).astype("float32")
income = (table[:, 0] * 2 - table[:, 3] + np.abs(table[:, 5])).astype("float32")[:, None]
log = model.fit(table, income, epochs=6, batch_size=32, verbose=0).history
print([round(v, 3) for v in log["loss"]])
