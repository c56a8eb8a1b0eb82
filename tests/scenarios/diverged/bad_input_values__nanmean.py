"""Sensor values are cleaned with the column's mean before training, and the loss is still nan.

expect: bad-input-values
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)
readings = rng.normal(20.0, 2.0, size=(512, 5))
wear = ((readings[:, 0] - 20) * 0.5 + (readings[:, 3] - 20) * 0.2).astype("float32")
readings[rng.integers(0, 512, 12), 1] = np.nan
readings[rng.integers(0, 512, 3), 4] = np.inf


def clean(column):
    mean = np.nanmean(column)
    return np.nan_to_num(column, nan=mean, posinf=mean, neginf=mean)


cleaned = np.stack([clean(readings[:, i]) for i in range(5)], axis=1)
cleaned = ((cleaned - 20.0) / 2.0).astype("float32")
data = tf.data.Dataset.from_tensor_slices((cleaned, wear)).shuffle(512, seed=1).batch(32)

inputs = keras.Input((5,))
hidden = keras.layers.Dense(24, activation="elu")(inputs)
hidden = keras.layers.Dense(12, activation="elu")(hidden)
model = keras.Model(inputs, keras.layers.Dense(1)(hidden))
model.compile(optimizer=keras.optimizers.Adam(0.003), loss="mae")
model.fit(data, epochs=6, verbose=2)
