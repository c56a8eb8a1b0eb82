"""Training is fine; the validation data went through another preprocessing and has one column less.

expect: shape-mismatch
exit: 1
outcome: crashed
"""

import keras
import numpy as np

keras.utils.set_random_seed(1)


def one_hot(column):
    values = sorted(set(column))
    return np.eye(len(values), dtype="float32")[[values.index(v) for v in column]]


rng = np.random.default_rng(1)
train_city, valid_city = rng.integers(0, 6, 200), rng.integers(0, 5, 50)
train_x = np.hstack([rng.random((200, 3), dtype="float32"), one_hot(train_city)])
valid_x = np.hstack([rng.random((50, 3), dtype="float32"), one_hot(valid_city)])

model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(train_x, train_x.sum(axis=1), epochs=3, validation_data=(valid_x, valid_x.sum(axis=1)), verbose=2)  # <- here
