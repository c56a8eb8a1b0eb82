"""Flat targets and a loss of one's own in compile: Keras brings both to one shape before it calls the loss.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(69)
rng = np.random.default_rng(69)
rows = rng.normal(size=(900, 5)).astype("float32")
yield_per_field = (rows[:, 0] - 2 * rows[:, 1] * rows[:, 2]).astype("float32")


def smooth_error(y_true, y_pred):
    return tf.reduce_mean(tf.math.log(tf.cosh(y_true - y_pred)))


model = keras.Sequential([keras.layers.Dense(48, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss=smooth_error)
log = model.fit(rows, yield_per_field, epochs=12, validation_split=0.2, verbose=0).history
print([round(v, 2) for v in log["loss"]], [round(v, 2) for v in log["val_loss"]])
