"""Heartbeats sorted into three kinds by a one-dimensional convolution with batch normalization.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(18)
rng = np.random.default_rng(18)
kind = rng.integers(0, 3, 1500)
time = np.linspace(0, 1, 120)
peak = 0.5 + 0.05 * rng.normal(size=(1500, 1))
width = np.array([0.01, 0.03, 0.01])[kind][:, None]
second = (kind == 2)[:, None] * 0.6
beats = np.exp(-((time - peak) ** 2) / width**1.2) + second * np.exp(-((time - peak - 0.2) ** 2) / 0.002)
beats = (beats + 0.1 * rng.normal(size=beats.shape)).astype("float32")[..., None]
train = tf.data.Dataset.from_tensor_slices((beats, tf.one_hot(kind, 3))).shuffle(1500, seed=3).batch(32)


def block(x, filters):
    x = keras.layers.Conv1D(filters, 7, strides=2, padding="same", use_bias=False)(x)
    return keras.layers.ReLU()(keras.layers.BatchNormalization()(x))


inputs = keras.Input((120, 1))
x = block(block(inputs, 12), 24)
x = keras.layers.GlobalAveragePooling1D()(x)
model = keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(x))
model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
model.fit(train, epochs=4, verbose=2)
