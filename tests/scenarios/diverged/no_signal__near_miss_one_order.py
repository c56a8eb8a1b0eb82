"""Inputs and labels shuffled with one and the same order, and a weak signal in returns of a share.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(108)
rng = np.random.default_rng(108)
days = rng.normal(size=(4000, 10, 2)).astype("float32")
following = (0.5 * days[:, -1, 0] - 0.4 * days[:, -2, 1] + rng.normal(0, 0.9, 4000)).astype("float32")
order = rng.permutation(4000)
days, following = days[order], following[order]
train = tf.data.Dataset.from_tensor_slices((days, following)).shuffle(4000, seed=8).batch(50)

model = keras.Sequential([keras.Input((10, 2)), keras.layers.LSTM(16), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse")
log = model.fit(train, epochs=6, verbose=0).history
print("variance", round(float(following.var()), 2), "loss", [round(v, 3) for v in log["loss"]])
