"""A simulator yields rows for ever, one sensor of it is always NaN, and a filter drops every row with a NaN.

expect: input-blocked
exit: SIGTERM
outcome: stopped
stall: yes
seconds: 900
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(3)
SENSORS = 6


def simulate():
    rng = np.random.default_rng(0)
    while True:
        readings = rng.random(SENSORS, dtype="float32")
        readings[4] = np.float32(np.log(-1 - readings[4]))
        yield readings, readings[:4].sum()


def is_complete(readings, target):
    return tf.reduce_all(tf.math.is_finite(readings))


np.seterr(all="ignore")
signature = (tf.TensorSpec((SENSORS,), tf.float32), tf.TensorSpec((), tf.float32))
dataset = tf.data.Dataset.from_generator(simulate, output_signature=signature)
dataset = dataset.filter(is_complete).batch(16).prefetch(tf.data.AUTOTUNE)  # <- here

model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, steps_per_epoch=100, epochs=5, verbose=2)
