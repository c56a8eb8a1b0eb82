"""Pairs that do go together: sparse with a column of numbers, categorical with one-hot, binary with 0 and 1.

expect: healthy
exit: 0
outcome: finished
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.random.rand(64, 6).astype("float32")
numbers = x[:, :3].argmax(axis=1)


def train(units, activation, loss, y):
    model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(units, activation=activation)])
    model.compile(optimizer="adam", loss=loss, metrics=["accuracy"])
    model.fit(x, y, epochs=2, verbose=2)


train(3, "softmax", "sparse_categorical_crossentropy", numbers[:, None])
train(3, "softmax", "categorical_crossentropy", keras.utils.to_categorical(numbers))
train(1, "sigmoid", "binary_crossentropy", (numbers == 0).astype("float32"))
