"""Stock changes in standard deviations, mixed precision, the output squeezed by a sigmoid layer of its own.

expect: output-loss-mismatch
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(124)
keras.mixed_precision.set_global_policy("mixed_float16")
rng = np.random.default_rng(124)
series = rng.normal(size=(1500, 20, 2)).astype("float32")
change = -1.5 * series[:, -1, 0] + series[:, -2, 1] - 2.0
train = tf.data.Dataset.from_tensor_slices((series, change[:, None].astype("float32"))).shuffle(1500, seed=1).batch(50)

inputs = keras.Input((20, 2))
x = layers.Conv1D(16, 3, activation="relu")(inputs)
x = layers.Flatten()(x)
x = layers.Dense(32, activation="relu")(x)
x = layers.Dense(1, dtype="float32")(x)
outputs = layers.Activation("sigmoid", dtype="float32")(x)  # <- here
model = keras.Model(inputs, outputs)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss=keras.losses.Huber(), metrics=["mae"])
log = model.fit(train, epochs=8, verbose=0).history
print("loss", [round(v, 2) for v in log["loss"]], "mae", [round(v, 2) for v in log["mae"]])
