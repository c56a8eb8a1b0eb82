"""A weighted loss given to compile: over-estimates of the arrival time cost more; predictions are squeezed first.

expect: targets-broadcast
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(62)
rng = np.random.default_rng(62)
trips = rng.random((1200, 6)).astype("float32")
minutes = (3 * trips[:, 0] + 2 * trips[:, 1] * trips[:, 2])[:, None].astype("float32")


def late_is_worse(y_true, y_pred):
    error = y_true - tf.squeeze(y_pred, axis=-1)  # <- here
    return tf.reduce_mean(tf.where(error > 0, 2 * tf.square(error), tf.square(error)))


inputs = keras.Input((6,))
x = keras.layers.Dense(32, activation="relu")(inputs)
x = keras.layers.Dense(32, activation="relu")(x)
model = keras.Model(inputs, keras.layers.Dense(1)(x))
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss=late_is_worse, metrics=["mae"])
log = model.fit(trips, minutes, epochs=10, batch_size=40, validation_split=0.2, verbose=0).history
print("loss", [round(v, 3) for v in log["loss"]])
print("mae ", [round(v, 3) for v in log["val_mae"]])
