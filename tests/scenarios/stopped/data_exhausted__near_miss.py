"""The same warning in passing: a dataset of unknown length, no steps_per_epoch; every epoch is a whole one.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)


def rows():
    rng = np.random.default_rng(0)
    for _ in range(250):
        x = rng.random(4, dtype="float32")
        yield x, x.sum()


train = tf.data.Dataset.from_generator(
    rows, output_signature=(tf.TensorSpec((4,), tf.float32), tf.TensorSpec((), tf.float32))
).batch(10)

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(train, epochs=4, verbose=2)
