"""Scans of handwriting are inverted for a convolution whose filters may only be positive.

expect: dead-activations
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(42)
rng = np.random.default_rng(42)
scans = (0.3 * rng.random((720, 14, 14, 1))).astype("float32")
digit = rng.integers(0, 3, 720)
for label in range(3):
    scans[digit == label, 4 * label : 4 * label + 4] += 0.7

data = tf.data.Dataset.from_tensor_slices((scans, digit))
data = data.map(lambda scan, label: (-scan, label))
data = data.shuffle(720, seed=1).batch(24)

inputs = keras.Input((14, 14, 1))
hidden = keras.layers.Conv2D(
    12,
    3,
    activation="relu",
    use_bias=False,
    kernel_initializer=keras.initializers.RandomUniform(0.0, 0.1),
    kernel_constraint=keras.constraints.NonNeg(),
)(inputs)
hidden = keras.layers.MaxPooling2D()(hidden)
hidden = keras.layers.Flatten()(hidden)
model = keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(hidden))
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(data, epochs=4, verbose=2)
