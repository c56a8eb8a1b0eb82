"""Targets in thousands as they are, with a large rate for Adam that fits them.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(108)
rng = np.random.default_rng(108)
fields = rng.normal(size=(1000, 5)).astype("float32")
kilos = (6000 + 1500 * fields[:, 0] - 700 * fields[:, 1]).astype("float32")[:, None]

model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(50.0), loss="mae")
data = tf.data.Dataset.from_tensor_slices((fields, kilos)).shuffle(1000, seed=1).batch(25)
model.fit(data, epochs=8, verbose=2)
