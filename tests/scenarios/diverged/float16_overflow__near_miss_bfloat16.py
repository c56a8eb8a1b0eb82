"""Values of a hundred thousand in a model of bfloat16, which has room for them.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(56)
keras.mixed_precision.set_global_policy("mixed_bfloat16")
rng = np.random.default_rng(56)
traffic = rng.normal(size=(640, 30, 4)).astype("float32")
jam = rng.integers(0, 2, 640)
traffic[jam == 1, :, 1] += 0.8

inputs = keras.Input((30, 4))
hidden = keras.layers.Dense(16, activation="relu")(inputs)
hidden = keras.layers.Lambda(lambda t: keras.ops.sum(t, axis=1) * 20000)(hidden)
hidden = keras.layers.BatchNormalization()(hidden)
model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid", dtype="float32")(hidden))
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(traffic, jam, epochs=6, batch_size=32, verbose=2)
