"""A table with a column that is always the same and one that is nearly empty.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(74)
rng = np.random.default_rng(74)
table = {
    "year": np.full(2000, 1.0, "float32"),
    "defects": (rng.random(2000) < 0.01).astype("float32"),
    "speed": rng.normal(size=2000).astype("float32"),
    "weight": rng.normal(size=2000).astype("float32"),
}
late = (table["speed"] + 0.5 * table["weight"] ** 2 > 0.5).astype("int32")
dataset = tf.data.Dataset.from_tensor_slices((table, late)).shuffle(2000, seed=9).batch(32)
inputs = {name: keras.Input((1,), name=name) for name in table}
x = keras.layers.Concatenate()(list(inputs.values()))
x = keras.layers.Dense(32, activation="relu")(x)
model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(x))
model.compile(keras.optimizers.Adam(3e-3), "binary_crossentropy", metrics=["accuracy"])
model.fit(
    dataset.map(lambda row, label: ({name: column[:, None] for name, column in row.items()}, label)),
    epochs=6,
    verbose=2,
)
