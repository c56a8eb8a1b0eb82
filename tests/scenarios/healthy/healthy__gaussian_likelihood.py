"""A sensor model that gives a mean and a width; its negative log likelihood falls below zero and goes on.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(23)
angle = np.random.uniform(-3, 3, (2400, 1)).astype("float32")
reading = (0.5 * np.sin(angle) + 0.05 * np.random.normal(size=angle.shape)).astype("float32")

inputs = keras.Input((1,))
hidden = keras.layers.Dense(40, activation="tanh")(inputs)
hidden = keras.layers.Dense(40, activation="tanh")(hidden)
mean = keras.layers.Dense(1)(hidden)
width = keras.layers.Dense(1, activation="softplus")(hidden)
model = keras.Model(inputs, keras.layers.Concatenate()([mean, width]))


def negative_log_likelihood(actual, output):
    mean, width = output[:, :1], output[:, 1:] + 1e-3
    return tf.math.log(width) + 0.5 * tf.square((actual - mean) / width)


model.compile(optimizer=keras.optimizers.Adam(3e-3), loss=negative_log_likelihood)
model.fit(angle, reading, batch_size=40, epochs=10, validation_split=0.1, verbose=2)
