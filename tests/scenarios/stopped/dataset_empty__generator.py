"""A Python generator over an empty list of files: it never yields.

expect: dataset-empty
exit: 1
outcome: crashed
"""

import glob

import keras
import numpy as np

keras.utils.set_random_seed(4)


def load_batches(paths, batch_size=4):
    for start in range(0, len(paths), batch_size):
        chunk = [np.load(path) for path in paths[start : start + batch_size]]
        yield np.stack([c["x"] for c in chunk]), np.stack([c["y"] for c in chunk])


train_paths = sorted(glob.glob("/nonexistent/dataset/train/*.npz"))
print(len(train_paths), "files")

inputs = keras.Input((32,))
outputs = keras.layers.Dense(1)(keras.layers.Dense(16, activation="relu")(inputs))
model = keras.Model(inputs, outputs)
model.compile("adam", "mse")
model.fit(load_batches(train_paths), steps_per_epoch=100, epochs=10, verbose=2)  # <- here
